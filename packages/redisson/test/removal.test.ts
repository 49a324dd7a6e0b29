import { describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { encodeEntry } from './java/entry.codec.js';
import { type RedissonTestQueue, redissonQueues } from './redisson-queue.js';

const FAR = 9e12;
const AT_ONCE = 250;

/** The side that offers the message at a place in the list of entries. */
type Origin = (place: number) => 'here' | 'Java';

/** The transfer of Redisson 4.7. */
const TRANSFER_OF_REDISSON = `
  local expiredValues = redis.call('zrangebyscore', KEYS[2], 0, ARGV[1], 'limit', 0, ARGV[2])
  if #expiredValues > 0 then
    for i, v in ipairs(expiredValues) do
      local randomId, value = struct.unpack('Bc0Lc0', v)
      redis.call('rpush', KEYS[1], value)
      redis.call('lrem', KEYS[3], 1, v)
    end
    redis.call('zrem', KEYS[2], unpack(expiredValues))
  end
  return #expiredValues`;

/** Offers so many messages; those at `due` have fallen due, the later ones in the list first. */
async function fill(queue: RedissonTestQueue, count: number, due: ReadonlySet<number>, origin: Origin): Promise<void> {
  const at = (place: number) => (due.has(place) ? 1e12 - place : FAR - place);
  for (let place = 0; place < count;) {
    const by = origin(place);
    const places: number[] = [];
    while (place < count && origin(place) === by && places.length < AT_ONCE) places.push(place++);
    if (by === 'here') {
      await queue.offer(Object.fromEntries(places.map((each) => [`m${each}`, { at: at(each), value: `v${each}` }])));
    } else {
      const encode = (value: string) =>
        encodeEntry({ format: 'Bc0Lc0', id: randomBytes(8), value: Buffer.from(value) });
      const entries = places.map((each) => [at(each), encode(`v${each}`)] as const);
      await queue.redis
        .multi()
        .zadd(queue.keys.timeouts, ...entries.flat())
        .rpush(queue.keys.entries, ...entries.map(([, entry]) => entry))
        .exec();
    }
  }
}

/** Offers so many messages, whose values are their places. */
async function offerAt(queue: RedissonTestQueue, count: number, at: (place: number) => number): Promise<void> {
  for (let first = 0; first < count; first += AT_ONCE) {
    const places = Array.from({ length: AT_ONCE }, (_, index) => first + index);
    await queue.offer(
      Object.fromEntries(places.map((place) => [`m${place}`, { at: at(place), value: String(place) }])),
    );
  }
}

function somePlaces(count: number, among: number): ReadonlySet<number> {
  const places = new Set<number>();
  while (places.size < count) places.add(Math.floor(Math.random() * among));
  return places;
}

/** Transfers everything that is due, and expects that Java sees the list as it should be after each call. */
async function expectExactTransfers(queue: RedissonTestQueue, due: ReadonlySet<number>, count: number): Promise<void> {
  const all = Array.from({ length: count }, (_, place) => `v${place}`);
  for (let more = true; more;) {
    ({ more } = await queue.transfer());
    const moved = new Set(await queue.redis.lrange(queue.keys.target, 0, -1));
    expect(await queue.listed()).toEqual(all.filter((value) => !moved.has(value)));
  }
  const moved = await queue.redis.lrange(queue.keys.target, 0, -1);
  expect(moved.sort()).toEqual([...due].map((place) => `v${place}`).sort());
}

describe('a transfer of due entries from a long list in the Redisson layout', () => {
  const open = redissonQueues();

  const origins: Record<string, Origin> = {
    'offered here': () => 'here',
    'offered by Java': () => 'Java',
    'offered here and by Java in turn': (place) => (place % 3 === 0 ? 'here' : 'Java'),
    'offered here and by Java, thousands in a row': (place) => (place % 4000 < 2000 ? 'here' : 'Java'),
    'offered by Java, and a few here': (place) => (place % 97 === 0 ? 'here' : 'Java'),
  };
  const shares: Record<string, number> = { 'a few entries': 15, 'many entries': 150, 'most entries': 6000 };

  const cases = Object.keys(origins).flatMap((who) => Object.keys(shares).map((share) => [share, who] as const));
  test.each(cases)('removes exactly what it has moved in each call: %s, %s', async (share, who) => {
    const queue = open();
    const count = 8_000;
    const due = somePlaces(shares[share]!, count);
    await fill(queue, count, due, origins[who]!);
    await expectExactTransfers(queue, due, count);
  });

  // If the head falls due first, a call reads more than it can remove from other places, because it may be able to pop the rest;
  // the last place is among that.
  const orders = [3_000, 8_000].flatMap((count) => [
    { count, when: 'within milliseconds', dueAt: (place: number) => (place + 3) % 7 },
    { count, when: 'at the same time', dueAt: () => 0 },
    { count, when: 'within milliseconds, the head first', dueAt: (place: number) => (place === 0 ? -1 : place % 7) },
  ]);
  test.each(orders)(
    'moves entries in order of due time, then of offer: $count in the list, due $when',
    async ({ count, dueAt }) => {
      const queue = open();
      const due = new Map([0, ...somePlaces(2000, count)].map((place) => [place, 1e12 + dueAt(place)]));
      due.set(count - 1, 1e12 + 2);
      await offerAt(queue, count, (place) => due.get(place) ?? FAR);
      let calls = 0;
      while ((await queue.transfer()).more) calls++;
      expect(calls).toBeGreaterThan(1);
      const order = [...due].sort(([place, at], [otherPlace, otherAt]) => at - otherAt || place - otherPlace);
      expect(await queue.redis.lrange(queue.keys.target, 0, -1)).toEqual(order.map(([place]) => String(place)));
    },
  );

  test('moves entries at the head in order, even if one call cannot move them all', async () => {
    const queue = open();
    const count = 8_000;
    // At the head are some that the second call reads but may not get to, then some that it does get to.
    const lateRanks = [500, 515, 530, 545, 560, 575, 580, 585, 590, 595];
    const soonRanks = [350, 351, 352, 353, 354, 355, 356, 357, 358, 359];
    const placed = [...lateRanks, ...soonRanks];
    const ranks = Array.from({ length: 2_000 }, (_, rank) => rank).filter((rank) => !placed.includes(rank));
    const others = [...somePlaces(ranks.length + 20, count)].filter((place) => place >= 20);
    const rankOf = new Map([
      ...placed.map((rank, place) => [place, rank] as const),
      ...ranks.slice(0, others.length).map((rank, i) => [others[i]!, rank] as const),
    ]);
    await offerAt(queue, count, (place) => (rankOf.has(place) ? 1e12 + rankOf.get(place)! : FAR));
    while ((await queue.transfer()).more);
    const order = [...rankOf].sort(([, rank], [, other]) => rank - other).map(([place]) => String(place));
    expect(await queue.redis.lrange(queue.keys.target, 0, -1)).toEqual(order);
  });

  test('still moves due messages whose entries are missing from the list, however many there are', async () => {
    const queue = open();
    await fill(queue, 8_000, new Set(), () => 'Java');
    for (let index = 0; index < 30; index++) {
      await queue.redis.lrem(queue.keys.entries, 1, await queue.offerAsJava(`missing ${index}`, 0));
    }
    for (let calls = 0; (await queue.transfer()).more; calls++) expect(calls).toBeLessThan(200);
    expect(await queue.redis.llen(queue.keys.target)).toBe(30);
    expect(await queue.listed()).toHaveLength(8_000);
  });

  test('still moves a due message whose entry is missing from the list', async () => {
    const queue = open();
    await fill(queue, 100, somePlaces(100, 100), () => 'here');
    const [entry] = await queue.redis.lrangeBuffer(queue.keys.entries, 50, 50);
    await queue.redis.lrem(queue.keys.entries, 1, entry!);
    await queue.transfer();
    expect(await queue.redis.llen(queue.keys.target)).toBe(100);
    expect(await queue.listed()).toEqual([]);
  });

  test("takes at most a third of Redisson's time for messages from Java", async () => {
    const count = 60_000;
    const due = somePlaces(1000, count);
    const [ours, redissons] = [open(), open()];
    for (const queue of [ours, redissons]) await fill(queue, count, due, () => 'Java');
    const { target, timeouts, entries } = redissons.keys;
    const transfer = () => redissons.redis.eval(TRANSFER_OF_REDISSON, 3, target, timeouts, entries, Date.now(), 100);

    const times = { ours: 0, redissons: 0 };
    // In turn, so that both share what else the machine does.
    for (let isOver = false; !isOver;) {
      const start = performance.now();
      const { more } = await ours.transfer();
      const middle = performance.now();
      const moved = await transfer();
      times.ours += middle - start;
      times.redissons += performance.now() - middle;
      isOver = !more && moved === 0;
    }
    expect(await redissons.listed()).toHaveLength(count - due.size);
    expect(await ours.listed()).toHaveLength(count - due.size);
    console.log(`ours: ${times.ours.toFixed(0)} ms, Redisson's: ${times.redissons.toFixed(0)} ms`);
    expect(times.ours).toBeLessThan(times.redissons / 3);
  });
});
