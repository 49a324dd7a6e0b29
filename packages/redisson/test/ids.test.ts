import { describe, expect, test } from '@jest/globals';
import { type RedissonTestQueue, redissonQueues } from './redisson-queue.js';

const HOUR = 3_600_000;
const FAR = 9e12;
/** More messages than two claims take. */
const MANY = 500;

const idOf = (index: number) => `m${index}`;
const valueOf = (index: number) => `value ${index}`;
const messages = (first: number, end: number) =>
  Array.from({ length: end - first }, (_, i) => `${idOf(first + i)}=${valueOf(first + i)}`);

/** The longer a queue waits for consumers, the more messages a value in the target list may belong to. */
describe('many due messages', () => {
  const open = redissonQueues();
  const past = Date.now() - HOUR;

  async function offerMany(queue: RedissonTestQueue): Promise<void> {
    const indices = Array.from({ length: MANY }, (_, index) => index);
    await queue.offer(Object.fromEntries(indices.map((i) => [idOf(i), { at: past + i, value: valueOf(i) }])));
  }

  async function transferAll(queue: RedissonTestQueue): Promise<void> {
    while ((await queue.transfer()).more);
  }

  /** Claims as a consumer does until nothing is left. */
  async function claimAll({ store }: RedissonTestQueue) {
    const claimed: string[] = [];
    for (let more = true, claims = 0; more; claims++) {
      const report = await store.claim({ token: `t${claims}`, limit: 100, lease: HOUR });
      claimed.push(...report.messages.map(({ id, body }) => `${id}=${body.toString()}`));
      more = report.more;
    }
    return claimed;
  }

  async function keptOf({ redis, name }: RedissonTestQueue): Promise<(string | undefined)[]> {
    return (await redis.keys(`*${name}*`)).map((key) => key.split(':').at(-1)).sort();
  }

  /** Counts the keys with data of messages that no consumer here has taken. */
  const keptBeside = ({ redis, keys }: RedissonTestQueue) => redis.exists(keys.offered, keys.values, keys.repeated);

  test('keep their ids when Java puts values ahead of them', async () => {
    const queue = open();
    await offerMany(queue);
    await transferAll(queue);
    await queue.redis.lpush(queue.keys.target, 'java 1', 'java 2');
    const claimed = await claimAll(queue);
    expect(claimed.slice(0, 2).map((each) => each.replace(/^[0-9a-f]{14}=/, ''))).toEqual(['java 2', 'java 1']);
    expect(claimed.slice(2)).toEqual(messages(0, MANY));
    expect(await keptOf(queue)).toEqual(['claims', 'leases', 'messages', 'sequence']);
  });

  test('keep their ids after Java has taken others, whose ids are dropped', async () => {
    const queue = open();
    await offerMany(queue);
    await transferAll(queue);
    await queue.redis.lpop(queue.keys.target, 400);
    const claimed = await claimAll(queue);
    expect(claimed).toEqual(messages(400, MANY));
    for (let transfers = 0; transfers < MANY / 100; transfers++) await queue.transfer();
    expect(await keptBeside(queue)).toBe(0);
    expect(await queue.redis.hlen(`layout:{${queue.name}}:messages`)).toBe(claimed.length);
  });

  test('can be rescheduled, cancelled, replaced and removed while they are still delayed', async () => {
    const queue = open();
    await offerMany(queue);
    await queue.transfer(1);
    await queue.redis.lpush(queue.keys.target, 'java');
    expect(await queue.claim(1)).toEqual([expect.stringMatching(/^[0-9a-f]{14}=java$/)]);

    const [moved, takenBack, replaced, removed] = [10, 11, 12, 13];
    expect(await queue.store.reschedule(idOf(moved), { at: FAR })).toBe(true);
    expect(await queue.store.cancel(idOf(takenBack))).toBe(true);
    const again = { id: idOf(replaced), due: { at: past }, onDuplicate: 'replace' as const, body: 'new' };
    expect(await queue.store.offer([again])).toMatchObject([{ outcome: 'replaced' }]);
    expect(await queue.store.delayedValues.remove(valueOf(removed))).toBe(true);
    await transferAll(queue);
    const claimed = await claimAll(queue);
    const rest = [...messages(0, 10), ...messages(14, MANY), `${idOf(replaced)}=new`];
    expect(claimed.sort()).toEqual(rest.sort());

    expect(await queue.store.reschedule(idOf(moved), { at: past })).toBe(true);
    await transferAll(queue);
    expect(await queue.claim()).toEqual([`${idOf(moved)}=${valueOf(moved)}`]);
    for (let rounds = 0; rounds < 20; rounds++) await queue.transfer();
    expect(await keptBeside(queue)).toBe(0);
  });
});
