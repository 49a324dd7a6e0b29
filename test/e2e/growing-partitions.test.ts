import { describe, expect, it } from '@jest/globals';
import type { DelayQueueProducer, QueueOptions } from '../../lib/index.js';
import { partitionOf } from '../../lib/message/partition-of.js';
import { nativeKeys } from '../../lib/store/native/native-keys.js';
import { Handled } from '../support/handled.js';
import { isEmpty } from '../support/is-empty.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const ids = (count: number, prefix = 'm') => Array.from({ length: count }, (_, i) => `${prefix}${i}`);

describe('the number of partitions', () => {
  const scene = new Scene();

  /** An application that only offers; it decides on its number of partitions at its first call. */
  const startProducer = (queue: string, partitions: number, more: QueueOptions = {}) =>
    scene.startApp({ module: { queues: { [queue]: { partitions, ...more } } } });

  async function startConsumer(queue: string, partitions: number, more: QueueOptions = {}) {
    const handled = new Handled();
    const providers = [handlerOf(queue, handled.record)];
    const app = await scene.startApp({ module: { queues: { [queue]: { partitions, ...more } } }, providers });
    return { ...app, handled };
  }

  const offerAll = (producer: DelayQueueProducer, queue: string, all: readonly string[]) =>
    producer.offerMany(
      queue,
      all.map((id) => ({ payload: id, delay: '1h', id })),
    );

  const recordOf = (queue: string, partition = 0) =>
    scene.redis.get(nativeKeys(scene.prefix, queue, partition).partitions);

  it.each([
    [1, 8],
    [3, 4],
    [8, 32],
  ])('grows from %i to %i while the queue has messages, which keep their ids', async (before, after) => {
    const queue = scene.newQueue();
    const old = await startProducer(queue, before);
    await offerAll(old.producer, queue, ids(60));
    const { producer, log } = await startConsumer(queue, after);
    expect(log).toContain(
      `log ${queue}: partitions changed from ${before} to ${after}; running processes switch to the new number`,
    );

    const again = await offerAll(producer, queue, ids(60));
    expect(again.filter(({ created }) => created)).toEqual([]);
    await expect(producer.offer(queue, 0, 0, { id: 'm7', onDuplicate: 'reject' })).rejects.toMatchObject({
      code: 'DUPLICATE_MESSAGE',
    });
    for (const id of ids(20)) await producer.offer(queue, 'new', '1h', { id, onDuplicate: 'replace' });
    expect((await Promise.all(ids(60).map((id) => producer.find(queue, id)))).map((found) => found?.payload)).toEqual([
      ...ids(20).map(() => 'new'),
      ...ids(60).slice(20),
    ]);
    expect(await producer.counts(queue)).toMatchObject({ delayed: 60 });
    for (const id of ids(60)) expect(await producer.reschedule(queue, id, '2h')).toBe(true);
    for (const id of ids(60)) expect(await producer.cancel(queue, id)).toBe(true);
    expect(await isEmpty(producer, queue)).toBe(true);
  });

  it('is adopted by a running producer, whatever it calls first', async () => {
    const calls: readonly ((producer: DelayQueueProducer, queue: string) => Promise<unknown>)[] = [
      (producer, queue) => producer.find(queue, 'x7'),
      (producer, queue) => producer.cancel(queue, 'x7'),
      (producer, queue) => producer.reschedule(queue, 'x7', 0),
      async (producer, queue) => (await producer.counts(queue)).delayed === 40,
      async (producer, queue) => (await producer.list(queue, 'delayed')).messages.length === 40,
      async (producer, queue) => (await producer.countsByType(queue)).get('')?.delayed === 40,
      async (producer, queue) => (await producer.clear(queue)) === 40,
      async (producer, queue) => !(await producer.offer(queue, 0, '1h', { id: 'x7' })).created,
      async (producer, queue) => (await offerAll(producer, queue, ids(40, 'x'))).every(({ created }) => !created),
      (producer, queue) =>
        producer
          .offer(queue, 0, 0, { id: 'x7', onDuplicate: 'reject' })
          .catch(({ code }) => code === 'DUPLICATE_MESSAGE'),
    ];
    for (const [i, call] of calls.entries()) {
      const queue = scene.newQueue();
      const old = await startProducer(queue, 1);
      await old.producer.offer(queue, 0, '1h', { id: 'a' });
      await old.producer.cancel(queue, 'a');
      const grown = await startProducer(queue, 16);
      await offerAll(grown.producer, queue, ids(40, 'x'));
      expect([i, Boolean(await call(old.producer, queue))]).toEqual([i, true]);
    }
  });

  it('is adopted by a process that only consumes', async () => {
    const queue = scene.newQueue();
    const { handled } = await startConsumer(queue, 1);
    const { producer } = await startProducer(queue, 8);
    await producer.offerMany(
      queue,
      ids(60).map((id, i) => ({ payload: id, delay: i, id })),
    );
    await handled.untilCalls(60);
    await until(() => isEmpty(producer, queue));
    expect([...handled.ids].sort()).toEqual(ids(60).sort());
  });

  it('is adopted at the next check by a consumer that missed the announcement', async () => {
    const queue = scene.newQueue();
    const { handled } = await startConsumer(queue, 1, { checkInterval: '1s' });
    // Like a process that dies before it can announce anything.
    await scene.redis.set(nativeKeys(scene.prefix, queue).partitions, '1 4 1');
    const { producer } = await startProducer(queue, 4);
    for (const id of ids(20)) await producer.offer(queue, 0, 0, { id });
    await handled.untilCalls(20);
    expect([...handled.ids].sort()).toEqual(ids(20).sort());
  });

  it('is not lowered by a process configured with fewer, which warns once and uses the higher number', async () => {
    const queue = scene.newQueue();
    const first = await startProducer(queue, 8);
    await offerAll(first.producer, queue, ids(40));
    const { producer, log } = await startConsumer(queue, 4);
    for (const id of ids(40)) expect(await producer.cancel(queue, id)).toBe(true);
    const reported = log.filter((line) =>
      line.startsWith(`warn ${queue}: this process is configured with partitions: 4, but`),
    );
    expect(reported).toHaveLength(1);
    expect(await recordOf(queue)).toBe('2 8');
  });

  it.each([
    [8, 4],
    [8, 1],
    [1, 8],
  ])(
    'changes from %i to %i in an empty queue, is adopted by running processes, and leaves no former number behind',
    async (before, after) => {
      const queue = scene.newQueue();
      const old = await startConsumer(queue, before);
      await offerAll(old.producer, queue, ids(20));
      expect(await old.producer.clear(queue)).toBe(20);
      const { producer } = await startConsumer(queue, after);
      expect(await recordOf(queue)).toMatch(new RegExp(`^\\d+ ${after}$`));
      await offerAll(old.producer, queue, ids(40));
      expect(await producer.counts(queue)).toMatchObject({ delayed: 40 });
      const found = await Promise.all(
        ids(after, '').map((partition) =>
          scene.redis.zcard(nativeKeys(scene.prefix, queue, Number(partition)).delayed),
        ),
      );
      expect(found.reduce((sum, delayed) => sum + delayed)).toBe(40);
      await Promise.all([old.close(), producer.clear(queue)]);
    },
  );

  it('is stored with the former numbers, which a later startup drops once the queue is empty', async () => {
    const queue = scene.newQueue();
    const { producer } = await startProducer(queue, 2);
    await offerAll(producer, queue, ids(20));
    await startConsumer(queue, 4);
    expect(await recordOf(queue)).toMatch(/^\d+ 4 2$/);
    await startConsumer(queue, 8);
    expect(await recordOf(queue)).toMatch(/^\d+ 8 4 2$/);
    expect(await producer.clear(queue)).toBe(20);
    await startConsumer(queue, 8);
    expect(await recordOf(queue)).toMatch(/^\d+ 8$/);
    expect(await recordOf(queue, 7)).toBe(await recordOf(queue));
  });

  it('leaves a paused queue paused when it grows', async () => {
    const queue = scene.newQueue();
    const { producer: old, handled } = await startConsumer(queue, 1);
    await old.pause(queue);
    const { producer, handled: others } = await startConsumer(queue, 8);
    await producer.offerMany(
      queue,
      ids(40).map((id) => ({ payload: id, delay: 0, id })),
    );
    await until(async () => (await producer.counts(queue)).ready === 40);
    expect([handled.calls, others.calls]).toEqual([[], []]);
    await old.resume(queue);
    await until(() => handled.calls.length + others.calls.length === 40);
  });

  it("changes each partition's share of maxMessages", async () => {
    const queue = scene.newQueue();
    const { producer } = await startProducer(queue, 1, { maxMessages: 16 });
    const grown = await startProducer(queue, 8, { maxMessages: 16 });
    await grown.producer.offer(queue, 0, '1h', { id: 'first' });
    const inOne = ids(200).filter((id) => partitionOf(id, 8) === 7 && partitionOf('first', 8) !== 7);
    let accepted = 0;
    for (const id of inOne.slice(0, 5)) {
      await producer.offer(queue, 0, '1h', { id }).then(
        () => accepted++,
        () => undefined,
      );
    }
    expect(accepted).toBe(2);
  });

  it.each([
    ['rate', { rate: { max: 3, per: '1s' } }],
    ['globalConcurrency', { globalConcurrency: 10 }],
  ])('makes startup fail in a process configured with a %s that cannot be kept to', async (option, options) => {
    const queue = scene.newQueue();
    const { producer } = await startProducer(queue, 4);
    await producer.offer(queue, 0, '1h', { id: 'a' });
    await expect(startConsumer(queue, 1, options)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining(
        `Queue '${queue}' has partitions: 4, but this process is configured with a ${option}`,
      ),
    });
  });

  it('grows in each queue of a family', async () => {
    const prefix = `${scene.newQueue()}-`;
    const handled = new Handled();
    const start = (partitions: number, handles: boolean) =>
      scene.startApp({
        module: { queues: { [`${prefix}*`]: { partitions } } },
        providers: handles ? [handlerOf(`${prefix}*`, handled.record)] : [],
      });
    await start(1, true);
    const { producer } = await start(8, false);
    for (const id of ids(40)) await producer.offer(`${prefix}${Number(id.slice(1)) % 2}`, 0, 20, { id });
    await handled.untilCalls(40);
    expect([...handled.ids].sort()).toEqual(ids(40).sort());
  });

  it('may change during a listing, which still returns each message once', async () => {
    const queue = scene.newQueue();
    const { producer } = await startConsumer(queue, 1);
    await producer.pause(queue);
    for (const id of ids(10, 'now')) await producer.offer(queue, 0, 0, { id });
    for (const id of ids(10, 'later')) await producer.offer(queue, 0, '1h', { id });
    await until(async () => (await producer.counts(queue)).ready === 10);
    const begun = {
      ready: await producer.list(queue, 'ready', { limit: 3 }),
      delayed: await producer.list(queue, 'delayed', { limit: 3 }),
    };
    await startConsumer(queue, 4);
    for (const [state, prefix] of [
      ['ready', 'now'],
      ['delayed', 'later'],
    ] as const) {
      const { messages, cursor } = begun[state];
      const rest = await producer.list(queue, state, { cursor: cursor! });
      expect([...messages, ...rest.messages].map(({ id }) => id).sort()).toEqual(ids(10, prefix));
    }
  });
});
