import { describe, expect, test } from '@jest/globals';
import type { MessageState } from '../../../lib/message/message.js';
import type { PageRequest } from '../../../lib/store/admin-store.js';
import { type RedissonTestQueue, redissonQueues } from './redisson-queue.js';

const FAR = 9e12;

describe('messages from Node and Java listed together in a Redisson queue', () => {
  const open = redissonQueues();

  /** Each message of a page as `id=value`, with its due time where Redis keeps one. */
  async function list(queue: RedissonTestQueue, state: MessageState, page: Partial<PageRequest> = {}) {
    const { messages } = await queue.store.list({ state, limit: 1000, ...page });
    return messages.map(({ id, body }) => `${id}=${body.toString()}`);
  }

  /** All of them, two a page. */
  async function walk(queue: RedissonTestQueue, state: MessageState): Promise<string[]> {
    const walked: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await queue.store.list({ state, limit: 2, ...(cursor !== null && { from: { cursor } }) });
      walked.push(...page.messages.map(({ id, body }) => `${id}=${body.toString()}`));
      cursor = page.cursor;
    } while (cursor !== null);
    return walked;
  }

  test("are in the order of their due times when delayed, with ids for Node's and none for Java's", async () => {
    const queue = open();
    await queue.offer({ b: { at: FAR + 2, value: 'ours 2' }, d: { at: FAR + 4, value: 'ours 4' } });
    await queue.offerAsJava('java 1', FAR + 1);
    await queue.offerAsJava('java 3', FAR + 3);
    await queue.offerAsJava('java 2', FAR + 2);
    const all = ['=java 1', 'b=ours 2', '=java 2', '=java 3', 'd=ours 4'];
    expect(await list(queue, 'delayed')).toEqual(all);
    expect(await walk(queue, 'delayed')).toEqual(all);
    expect(await list(queue, 'delayed', { from: { offset: 3 } })).toEqual(all.slice(3));
    const { messages } = await queue.store.list({ state: 'delayed', limit: 1 });
    const now = Date.now();
    expect(messages[0]).toMatchObject({ dueAt: FAR + 1, state: 'delayed', failedAttempts: 0 });
    expect(messages[0]!.offeredAt).toBeGreaterThan(now - 60_000);
    expect(messages[0]!.offeredAt).toBeLessThan(now + 60_000);
  });

  test("are in claim order when ready, with ids for Node's and none for Java's", async () => {
    const queue = open();
    await queue.offer({ b: { at: 2, value: 'ours 2' }, d: { at: 4, value: 'ours 4' } });
    await queue.offerAsJava('java 1', 1);
    await queue.offerAsJava('java 3', 3);
    await queue.transfer();
    const all = ['=java 1', 'b=ours 2', '=java 3', 'd=ours 4'];
    expect(await list(queue, 'ready')).toEqual(all);
    expect(await walk(queue, 'ready')).toEqual(all);
    expect(await list(queue, 'ready', { from: { offset: 2 } })).toEqual(all.slice(2));
    await queue.takeAsJava();
    await queue.takeAsJava();
    expect(await list(queue, 'ready')).toEqual(all.slice(2));
  });

  test('keep distinct ids, each listed once, if they have equal values', async () => {
    const queue = open();
    const offers = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((id, i) => [id, { at: 1 + i, value: 'same' }]));
    await queue.offer(offers);
    await queue.transfer();
    const all = Object.keys(offers).map((id) => `${id}=same`);
    expect(await list(queue, 'ready')).toEqual(all);
    expect(await walk(queue, 'ready')).toEqual(all);
  });

  test('show the bytes of their entry if they cannot be read', async () => {
    const queue = open();
    await queue.redis.multi().zadd(queue.keys.timeouts, FAR, 'no entry').rpush(queue.keys.entries, 'no entry').exec();
    expect(await list(queue, 'delayed')).toEqual(['=no entry']);
    await queue.redis.del(queue.keys.timeouts, queue.keys.entries);
  });

  test('keep their ids in the middle of a long list', async () => {
    const queue = open();
    const ids = Array.from({ length: 3000 }, (_, i) => `m${String(i).padStart(5, '0')}`);
    await queue.offer(Object.fromEntries(ids.slice(0, 1000).map((id) => [id, { at: FAR, value: id }])));
    await queue.offer(Object.fromEntries(ids.slice(1000, 2000).map((id, i) => [id, { at: FAR + i, value: id }])));
    await queue.offer(Object.fromEntries(ids.slice(2000).map((id, i) => [id, { at: 1 + (i >> 5), value: id }])));
    const expected = (first: number, count: number) => ids.slice(first, first + count).map((id) => `${id}=${id}`);
    while ((await queue.transfer()).more);
    for (const [offset, count] of [
      [0, 50],
      [700, 50],
      [1700, 300],
    ] as const) {
      expect(await list(queue, 'delayed', { from: { offset }, limit: count })).toEqual(expected(offset, count));
    }
    expect(await list(queue, 'ready', { from: { offset: 500 }, limit: 100 })).toEqual(expected(2500, 100));
  });
});
