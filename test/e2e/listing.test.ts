import { describe, expect, test } from '@jest/globals';
import type { DelayQueueProducer, MessageSnapshot, MessageState } from '../../lib/index.js';
import { Handled } from '../support/handled.js';
import { Latch } from '../support/latch.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const STATES = ['delayed', 'ready', 'active', 'dead'] as const;

describe.each(['redis', 'memory'] as const)('listing messages of a queue in %s', (store) => {
  const scene = new Scene();

  /** Follows the cursors of a state from its first page to its last. */
  async function walk(producer: DelayQueueProducer, queue: string, state: MessageState, limit: number) {
    const messages: MessageSnapshot[] = [];
    let cursor: string | undefined;
    do {
      const page = await producer.list(queue, state, { limit, ...(cursor !== undefined && { cursor }) });
      messages.push(...page.messages);
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined);
    return messages;
  }

  test('shows each message in its state as find() returns it', async () => {
    const queue = scene.newQueue();
    const release = new Latch();
    const handled = new Handled();
    const handler = handlerOf(queue, async (payload, message) => {
      handled.record(payload, message);
      if (payload === 'fails') throw new TypeError('no such order');
      await release.opened;
    });
    const options = { concurrency: 2, attempts: 1 };
    const { producer } = await scene.startApp({
      module: { store, queues: { [queue]: options } },
      providers: [handler],
    });
    await producer.offer(queue, 'fails', 0, { id: 'dead' });
    await until(async () => (await producer.counts(queue)).dead === 1);
    await producer.offerMany(queue, [
      { payload: 'a', delay: 0, id: 'active 1', headers: { tenant: 'x' } },
      { payload: 'b', delay: 0, id: 'active 2' },
    ]);
    await handled.untilCalls(3);
    await producer.offer(queue, 'c', 0, { id: 'ready', type: 'some' });
    await producer.offer(queue, 'd', '1h', { id: 'delayed' });
    await until(async () => (await producer.counts(queue)).ready === 1);

    const listed = await Promise.all(STATES.map(async (state) => (await producer.list(queue, state)).messages));
    expect(listed.map((messages) => messages.map(({ id }) => id).sort())).toEqual([
      ['delayed'],
      ['ready'],
      ['active 1', 'active 2'],
      ['dead'],
    ]);
    for (const { leasedUntil, ...message } of listed.flat()) {
      expect(await producer.find(queue, message.id)).toMatchObject(message);
      expect(leasedUntil instanceof Date).toBe(message.state === 'active');
    }
    expect(listed[3]![0]).toMatchObject({ diedAt: expect.any(Date), error: { name: 'TypeError' } });
    release.open();
  });

  test('continues from a cursor or starts at an offset', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { store, consume: false } });
    const at = Date.now() + 3_600_000;
    for (let i = 0; i < 25; i++) await producer.offerAt(queue, i, new Date(at + i));
    const payloads = (messages: readonly MessageSnapshot[]) => messages.map(({ payload }) => payload);
    const all = Array.from({ length: 25 }, (_, i) => i);
    for (const limit of [1, 7, 25, 100]) expect(payloads(await walk(producer, queue, 'delayed', limit))).toEqual(all);
    expect(payloads((await producer.list(queue, 'delayed')).messages)).toEqual(all);
    const { messages, cursor } = await producer.list(queue, 'delayed', { offset: 10, limit: 5 });
    expect(payloads(messages)).toEqual(all.slice(10, 15));
    const next = await producer.list(queue, 'delayed', { cursor: cursor! });
    expect(payloads(next.messages)).toEqual(all.slice(15));
  });
});

describe('an unreadable message', () => {
  const scene = new Scene();

  test('does not hide the other messages on its page', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    const at = Date.now() + 3_600_000;
    for (const [i, id] of ['a', 'damaged', 'short', 'gone', 'b'].entries()) {
      await producer.offerAt(queue, id, new Date(at + i), { id });
    }
    const key = `${scene.prefix}:{${queue}}:messages`;
    const record = (await scene.redis.hgetBuffer(key, 'damaged'))!;
    await scene.redis.hset(key, { damaged: Buffer.concat([record.subarray(0, 12), Buffer.from('J{')]), short: 'x' });
    await scene.redis.hdel(key, 'gone');
    const { messages } = await producer.list(queue, 'delayed');
    const shown = messages.map(({ id, payload }) => [
      id,
      Buffer.isBuffer(payload) ? `bytes ${payload.toString()}` : payload,
    ]);
    expect(shown).toEqual([
      ['a', 'a'],
      ['damaged', 'bytes J{'],
      ['short', 'bytes x'],
      ['gone', 'bytes '],
      ['b', 'b'],
    ]);
    expect((await producer.find(queue, 'damaged'))!.payload).toEqual(messages[1]!.payload);
  });

  test('does not hide other messages if it is a dead letter whose error is missing or damaged', async () => {
    const queue = scene.newQueue();
    const handler = handlerOf(
      queue,
      (payload) => {
        throw new Error(String(payload));
      },
      { attempts: 1 },
    );
    const { producer } = await scene.startApp({ providers: [handler] });
    for (const id of ['a', 'damaged', 'gone', 'odd']) await producer.offer(queue, id, 0, { id });
    await until(async () => (await producer.counts(queue)).dead === 4);
    const key = `${scene.prefix}:{${queue}}:errors`;
    await scene.redis.hset(key, { damaged: 'word', odd: 'null' });
    await scene.redis.hdel(key, 'gone');
    const { messages } = await producer.list(queue, 'dead');
    const names = Object.fromEntries(messages.map(({ id, error }) => [id, error.name]));
    expect(names).toEqual({ a: 'Error', damaged: 'Unknown', gone: 'Unknown', odd: 'Unknown' });
    for (const { id, error } of messages) expect((await producer.find(queue, id))!.error).toEqual(error);
  });
});
