import { describe, expect, test } from '@jest/globals';
import { DelayQueueError } from '../../../lib/index.js';
import { valueDigest } from '../src/value-digest.js';
import { until } from '../../../test/support/until.js';
import { redissonQueues } from './redisson-queue.js';

const HOUR = 3_600_000;
const FAR = 9e12;

describe('a queue in the Redisson layout', () => {
  const open = redissonQueues();
  const now = () => Date.now();

  describe('the list of entries', () => {
    const patterns: Record<string, (index: number) => number> = {
      'in offer order': (index) => index,
      'in reverse order': (index) => -index,
      'in mixed order': (index) => (index * 7919) % 1000,
    };

    test.each(Object.entries(patterns))(
      'drops exactly the due messages, whoever offered them, and keeps its order: due %s',
      async (_name, rank) => {
        const queue = open();
        const base = now() - HOUR;
        const left: string[] = [];
        for (let index = 0; index < 300; index++) {
          const isDue = index % 3 !== 0;
          const at = isDue ? base + rank(index) : FAR - index;
          if (!isDue) left.push(`v${index}`);
          if (index % 5 === 0) await queue.offerAsJava(`v${index}`, at);
          else await queue.offer({ [`m${index}`]: { at, value: `v${index}` } });
        }
        for (let batches = 0; (await queue.transfer(17)).more; batches++) expect(batches).toBeLessThan(100);
        expect(await queue.listed()).toEqual(left);
        expect((await queue.store.status()).counts).toMatchObject({ delayed: 100, ready: 200 });
      },
    );

    test('drops exactly the messages that are cancelled, replaced, removed or taken', async () => {
      const queue = open({ format: 'dLc0' });
      for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) await queue.offer({ [id]: { at: FAR, value: `of ${id}` } });
      await queue.store.cancel('c');
      await queue.store.offer([{ id: 'e', due: { at: FAR }, onDuplicate: 'replace', body: 'new e' }]);
      expect(await queue.store.delayedValues.remove('of b')).toBe(true);
      expect(String(await queue.store.delayedValues.takeFirst())).toBe('of a');
      expect(await queue.listed()).toEqual(['of d', 'of f', 'new e']);
      expect(await queue.store.find('a')).toBeNull();
      expect(await queue.store.find('b')).toBeNull();
      expect((await queue.redis.hkeys(queue.keys.offered)).sort()).toEqual(['d', 'e', 'f']);
    });

    test('is not searched repeatedly by one transfer of many entries from Java', async () => {
      const queue = open();
      const pipeline = queue.redis.pipeline();
      for (let index = 0; index < 50_000; index++) pipeline.rpush(queue.keys.entries, `other ${index}`);
      await pipeline.exec();
      for (let index = 0; index < 10; index++) {
        await queue.offerAsJava(`java ${index}`, now() - HOUR);
        await queue.redis.rpush(queue.keys.entries, `another ${index}`);
      }
      const report = await queue.transfer();
      expect(report).toMatchObject({ more: true });
      expect(report.moved).toBeLessThan(10);
      while ((await queue.transfer()).more);
      expect(await queue.redis.llen(queue.keys.target)).toBe(10);
      expect(await queue.redis.llen(queue.keys.entries)).toBe(50_010);
    });
  });

  test('keeps only one key when it is empty, and that key expires within a day', async () => {
    const queue = open();
    await queue.offer({ only: { at: FAR, value: 'v' } });
    expect(await queue.store.cancel('only')).toBe(true);
    expect(await queue.redis.keys(`*${queue.name}*`)).toEqual([queue.keys.sequence]);
    const lifetime = await queue.redis.pttl(queue.keys.sequence);
    expect(lifetime).toBeGreaterThan(23 * HOUR);
    expect(lifetime).toBeLessThanOrEqual(24 * HOUR);
  });

  test('announces the due time of a new head and nothing else', async () => {
    const queue = open();
    const announced: string[] = [];
    const listener = queue.redis.duplicate();
    listener.on('message', (_channel, text: string) => announced.push(text));
    await listener.subscribe(queue.keys.channel);
    for (const [id, at] of Object.entries({ a: 3000, b: 4000, c: 2000, d: 2000 })) {
      await queue.offer({ [id]: { at: FAR - 10_000 + at, value: id } });
    }
    await queue.store.reschedule('b', { at: FAR - 9000 });
    await until(() => announced.length >= 3);
    expect(announced).toEqual([`${FAR - 7000}`, `${FAR - 8000}`, `${FAR - 9000}`]);
    listener.disconnect();
  });

  test('turns an unreadable entry into a dead letter with its bytes, and lets its neighbours be claimed', async () => {
    const queue = open();
    const garbage = Buffer.from('08ff00', 'hex');
    await queue.offerAsJava('before', now() - 3000);
    await queue.redis
      .multi()
      .zadd(queue.keys.timeouts, now() - 2000, garbage)
      .rpush(queue.keys.entries, garbage)
      .exec();
    await queue.offerAsJava('after', now() - 1000);
    await queue.transfer();

    expect((await queue.claim()).map((each) => each.split('=')[1])).toEqual(['before', 'after']);
    const { messages: letters } = await queue.store.list({ state: 'dead', limit: 10 });
    expect(letters).toMatchObject([
      { body: garbage, death: { error: expect.stringContaining('UnreadableEntry') as unknown } },
    ]);
    expect(await queue.listed()).toEqual([]);
  });

  test('retries and dead-letters a claimed message from Java like any other', async () => {
    const queue = open();
    await queue.offerAsJava('hello', now() - HOUR);
    await queue.transfer();
    for (const failedAttempts of [0, 1, 2]) {
      const { messages } = await queue.store.claim({ token: `t${failedAttempts}`, limit: 1, lease: HOUR });
      expect(messages).toMatchObject([{ body: Buffer.from('hello'), failedAttempts }]);
      const claim = { id: messages[0]!.id, token: `t${failedAttempts}` };
      const outcome =
        failedAttempts < 2 ? ({ kind: 'retry', delay: 0 } as const) : ({ kind: 'dead', error: '{}' } as const);
      await queue.store.settle([{ claim, outcome }]);
      await until(async () => (await queue.transfer()).ready === 1 || failedAttempts === 2);
    }
    expect((await queue.store.status()).counts).toEqual({ delayed: 0, ready: 0, active: 0, dead: 1 });
  });

  test("keeps the ids of messages with equal payloads and assigns ids to Java's messages", async () => {
    const queue = open();
    const at = now() - HOUR;
    await queue.offer({ first: { at, value: 'same' }, later: { at: FAR, value: 'same' } });
    await queue.offerAsJava('same', at + 1);
    await queue.offer({ second: { at: at + 2, value: 'same' } });
    await queue.transfer();
    const claimed = await queue.claim();
    expect(claimed.slice(0, 2)).toEqual(['first=same', 'second=same']);
    expect(claimed[2]).toMatch(/^[0-9a-f]{14}=same$/);
    expect(await queue.store.find('later')).toMatchObject({ state: 'delayed' });
  });

  test('does not mistake an equal value from Java in the target list for a message that awaits its transfer', async () => {
    const queue = open();
    await queue.offer({ mine: { at: now() - HOUR, value: 'same' } });
    await queue.redis.rpush(queue.keys.target, 'same');
    expect(await queue.claim()).toEqual([expect.stringMatching(/^[0-9a-f]{14}=same$/)]);
    await queue.transfer();
    expect(await queue.claim()).toEqual(['mine=same']);
  });

  test('lets an empty value be claimed, even next to an id whose record is lost', async () => {
    const queue = open();
    await queue.redis.multi().rpush(queue.keys.target, '').hset(queue.keys.values, valueDigest(''), 'lost').exec();
    expect(await queue.claim()).toEqual([expect.stringMatching(/^[0-9a-f]{14}=$/)]);
  });

  test('leaves unclaimed values to Java', async () => {
    const queue = open();
    for (const id of ['a', 'b', 'c']) await queue.offer({ [id]: { at: now() - HOUR, value: id } });
    await queue.transfer();
    expect(await queue.claim(1)).toEqual(['a=a']);
    expect(await queue.takeAsJava()).toBe('b');
    expect(await queue.claim()).toEqual(['c=c']);
  });

  test('lets Java take the values that the rate withholds from a claim', async () => {
    const queue = open({ rate: { max: 1, per: HOUR } });
    await queue.offer({ a: { at: 0, value: 'a' }, b: { at: 1, value: 'b' }, c: { at: 2, value: 'c' } });
    await queue.transfer();
    expect(await queue.claim()).toEqual(['a=a']);
    expect(await queue.claim()).toEqual([]);
    expect([await queue.takeAsJava(), await queue.takeAsJava()]).toEqual(['b', 'c']);
  });

  test('frees the ids of messages that Java takes, and keeps no data about them', async () => {
    const queue = open();
    for (const id of ['a', 'b', 'c']) await queue.offer({ [id]: { at: now() - HOUR, value: id } });
    await queue.transfer();
    await queue.takeAsJava();
    expect(await queue.store.find('a')).toBeNull();
    expect(await queue.store.find('b')).toMatchObject({ state: 'ready' });
    const [receipt] = await queue.store.offer([{ id: 'a', due: { at: FAR }, onDuplicate: 'reject', body: 'new' }]);
    expect(receipt).toMatchObject({ outcome: 'created' });

    await queue.takeAsJava();
    await queue.takeAsJava();
    await queue.store.cancel('a');
    await queue.transfer();
    expect((await queue.redis.keys(`layout:{${queue.name}}:*`)).map((key) => key.split(':').at(-1)).sort()).toEqual([
      'sequence',
      'wake',
    ]);
  });

  test('forgets messages taken by Java even if the process only makes offers', async () => {
    const queue = open();
    for (let index = 0; index < 100; index++) {
      await queue.offer({ [`m${index}`]: { at: now() - HOUR, value: `v${index}` } });
      // The remains of a transfer and a consumer of Java.
      await queue.redis.multi().del(queue.keys.timeouts, queue.keys.entries).exec();
    }
    expect(await queue.redis.hlen(queue.keys.offered)).toBeLessThan(10);
  });

  test('notices immediately when Java puts a value straight into the target list, and lets it be claimed', async () => {
    const queue = open();
    let looks = 0;
    const stop = queue.store.watchDue({ onEarlierDue: () => looks++, onListening: () => undefined });
    // By then the watch waits for the list, or finds it filled.
    await queue.redis.rpush(queue.name, 'straight');
    await until(() => looks === 1);
    const { ready } = await queue.transfer();
    expect(ready).toBe(1);
    expect((await queue.claim()).map((each) => each.split('=')[1])).toEqual(['straight']);

    await queue.redis.rpush(queue.name, 'again');
    await until(() => looks === 2);
    stop();
  });

  test('notices the values that the rate leaves in the target list only once', async () => {
    const queue = open({ rate: { max: 1, per: HOUR } });
    let looks = 0;
    const stop = queue.store.watchDue({ onEarlierDue: () => looks++, onListening: () => undefined });
    await queue.redis.rpush(queue.name, 'a', 'b');
    await until(() => looks === 1);
    await queue.transfer();
    const { messages, claimAgainIn } = await queue.store.claim({ token: 't', limit: 2, lease: HOUR });
    expect([messages.length, claimAgainIn]).toEqual([1, expect.any(Number)]);
    // Another wait for the list would end at once.
    await expect(until(() => looks > 1, { within: 300 })).rejects.toThrow();
    stop();
  });

  test('refuses an unreadable entry at the head with a typed error and leaves it in place', async () => {
    const queue = open();
    const foreign = Buffer.from('none of Redisson');
    await queue.redis.multi().zadd(queue.keys.timeouts, FAR, foreign).rpush(queue.keys.entries, foreign).exec();
    await expect(queue.store.delayedValues.takeFirst()).rejects.toThrow(DelayQueueError);
    expect(await queue.redis.llen(queue.keys.entries)).toBe(1);
  });
});
