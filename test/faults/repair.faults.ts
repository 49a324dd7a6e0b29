import { describe, expect, test } from '@jest/globals';
import type { Redis } from 'ioredis';
import type { QueueOptions } from '../../lib/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { groupKeys, nativeKeys, type NativeKeys } from '../../lib/store/native/native-keys.js';
import { Handled } from '../support/handled.js';
import { Latch } from '../support/latch.js';
import { layouts } from '../support/layouts.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const ACTIVE = 100;
/** More than one call of the repair examines. */
const MESSAGES = 1000;

/** Ways to damage a queue with messages in every state. */
const DAMAGES: Record<string, (redis: Redis, keys: NativeKeys) => Promise<unknown>> = {
  'the claims of consumers are deleted': (redis, { claims, leases }) => redis.del(claims, leases),
  'the ready messages are deleted': (redis, { ready }) => redis.del(ready),
  'the dead letters are deleted': (redis, { dead, errors }) => redis.del(dead, errors),
};

describe('orphaned messages', () => {
  const scene = new Scene();

  test.each([
    ['native', 'the claims of consumers are deleted'],
    ['native', 'the ready messages are deleted'],
    ['native', 'the dead letters are deleted'],
    ['redisson', 'the claims of consumers are deleted'],
    ['redisson', 'the dead letters are deleted'],
  ] as const)('become ready after the next startup, which is logged: layout %s, %s', async (layout, damage) => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const { producer } = await scene.startApp({ module: { consume: false, defaults: { layout: layouts[layout] } } });
    const holding = await scene.startApp({
      module: { shutdownTimeout: 1, defaults: { layout: layouts[layout] } },
      providers: [
        handlerOf(
          queue,
          (payload) => {
            if (payload === 'dies') throw new Error('no');
            return new Promise(() => undefined);
          },
          { concurrency: ACTIVE, lease: '1h', attempts: 1 },
        ),
      ],
    });
    await producer.offer(queue, 'dies', 0, { id: 'dead' });
    await until(async () => (await producer.counts(queue)).dead === 1);
    const many = (delay: number | string, prefix: string) =>
      Array.from({ length: MESSAGES / 2 }, (_, n) => ({ payload: n, delay, id: `${prefix}-${n}` }));
    await producer.offerMany(queue, many(0, 'due'));
    await producer.offerMany(queue, many('1h', 'later'));
    await until(async () => (await producer.counts(queue)).active === ACTIVE);
    await holding.close();
    await DAMAGES[damage]!(scene.redis, nativeKeys(scene.prefix, queue));

    const { delayed, ready, active, dead } = await producer.counts(queue);
    const lost = MESSAGES + 1 - delayed - ready - active - dead;
    const { log } = await scene.startApp({
      module: { defaults: { layout: layouts[layout] } },
      providers: [handlerOf(queue, handled.record, { lease: '1h' })],
    });
    await until(() => log.some((line) => line.startsWith(`error ${queue}: ${lost} messages were orphaned`)));
    await handled.untilCalls(lost + ready);
    expect(lost).toBeGreaterThan(0);
    expect(await producer.counts(queue)).toMatchObject({ delayed, dead });
    await producer.clear(queue);
  });

  const QUEUES: Record<string, QueueOptions> = {
    'of layout native': { layout: 'native' },
    'with partitions': { layout: 'native', partitions: 4 },
    'of layout redisson': { layout: redisson() },
  };

  /** Deletes the due times of a queue's messages in every partition. */
  const forgetDueTimes = async (queue: string, partitions = 1) => {
    const keys = Array.from(
      { length: partitions },
      (_, partition) => nativeKeys(scene.prefix, queue, partition).delayed,
    );
    await scene.redis.del(...keys);
  };

  test.each(['of layout native', 'with partitions'])(
    'become delayed again if they are not due yet, and none is handled early: a queue %s',
    async (kind) => {
      const queue = scene.newQueue();
      const handled = new Handled();
      const options = QUEUES[kind]!;
      const { producer } = await scene.startApp({ module: { consume: false, defaults: options } });
      const ids = Array.from({ length: 100 }, (_, n) => `later-${n}`);
      await producer.offerMany(
        queue,
        ids.map((id) => ({ payload: id, delay: '1h', id })),
      );
      await producer.reschedule(queue, 'later-0', '2h');
      await producer.offer(queue, 'soon', 2000, { id: 'soon' });
      await producer.offer(queue, 'now', 0, { id: 'now' });
      const duesOf = () => Promise.all(ids.map(async (id) => (await producer.find(queue, id))?.dueAt));
      const dues = await duesOf();
      await forgetDueTimes(queue, options.partitions);

      const { log } = await scene.startApp({
        module: { defaults: options },
        providers: [handlerOf(queue, handled.record)],
      });
      await handled.until('now');
      expect((await handled.until('soon')).late).toBeGreaterThanOrEqual(0);
      expect(handled.ids.sort()).toEqual(['now', 'soon']);
      expect(await producer.counts(queue)).toMatchObject({ delayed: ids.length, ready: 0, active: 0 });
      expect(await duesOf()).toEqual(dues);
      expect(tally(log)).toEqual({ ready: 1, delayed: ids.length + 1 });
    },
  );

  test.each(Object.keys(QUEUES))('still wait for their next attempt: a queue %s', async (kind) => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const options = QUEUES[kind]!;
    const failing = await scene.startApp({
      module: { defaults: options },
      providers: [
        handlerOf(queue, () => Promise.reject(new Error('no')), { backoff: { type: 'fixed', delay: '1h', jitter: 0 } }),
      ],
    });
    const { id } = await failing.producer.offer(queue, 'fails', 0);
    const failed = () => failing.producer.find(queue, id);
    await until(async () => (await failed())?.failedAttempts === 1);
    const before = await failed();
    await failing.close();
    await forgetDueTimes(queue, options.partitions);

    const { log, producer } = await scene.startApp({
      module: { defaults: options },
      providers: [handlerOf(queue, handled.record)],
    });
    await until(() => tally(log).delayed === 1);
    expect(await producer.find(queue, id)).toEqual(before);
    expect(tally(log)).toEqual({ ready: 0, delayed: 1 });
    expect(handled.calls).toEqual([]);
    await producer.clear(queue);
  });

  test('become dead letters at once if another program wrote them, whatever due time their bytes would encode', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    await producer.offer(queue, 'sound', '1h');
    await scene.redis.hset(nativeKeys(scene.prefix, queue).messages, 'foreign', 'the text of another program');
    await scene.startApp({ providers: [handlerOf(queue, () => undefined)] });
    await until(async () => (await producer.counts(queue)).dead === 1);
    expect(await producer.counts(queue)).toMatchObject({ delayed: 1, dead: 1 });
  });
});

describe('claimed messages whose leases were deleted', () => {
  const scene = new Scene();
  const LEASE = 1500;

  const QUEUES: Record<string, { readonly options: QueueOptions; readonly group?: string }> = {
    'of layout native': { options: { layout: 'native' } },
    'with partitions': { options: { layout: 'native', partitions: 2 } },
    'with groups': { options: { layout: 'native', groups: { concurrency: 1 } }, group: 'one' },
    'of layout redisson': { options: { layout: redisson() } },
  };

  const forgetLeases = async (queue: string) => {
    const keys = [0, 1].map((partition) => nativeKeys(scene.prefix, queue, partition).leases);
    return scene.redis.del(...keys, groupKeys(scene.prefix, queue).leases);
  };

  test.each(Object.keys(QUEUES))(
    'are handled again once the queue is repaired, followed by the messages behind them: a queue %s',
    async (kind) => {
      const { options, group } = QUEUES[kind]!;
      const queue = scene.newQueue();
      const handled = new Handled();
      const module = { defaults: options };
      const { producer } = await scene.startApp({ module: { ...module, consume: false } });
      const hang = () => new Promise(() => undefined);
      const holding = await scene.startApp({
        module: { ...module, shutdownTimeout: 1 },
        providers: [handlerOf(queue, hang, { lease: '1h' })],
      });
      await producer.offer(queue, 1, 0, { id: 'held', ...(group && { group }) });
      await until(async () => (await producer.counts(queue)).active === 1);
      await producer.offer(queue, 1, '100ms', { id: 'behind', ...(group && { group }) });
      await holding.close();
      await forgetLeases(queue);
      await scene.startApp({ module, providers: [handlerOf(queue, handled.record, { lease: LEASE })] });
      expect((await handled.until('held', { within: 15_000 })).attempt).toBe(2);
      await handled.until('behind', { within: 15_000 });
      await until(async () => Object.values(await producer.counts(queue)).every((count) => count === 0));
    },
  );

  test.each(Object.keys(QUEUES))('stay with running handlers: a queue %s', async (kind) => {
    const { options, group } = QUEUES[kind]!;
    const queue = scene.newQueue();
    const attempts: number[] = [];
    const finish = new Latch();
    const provider = handlerOf(
      queue,
      async (_payload, { attempt }) => {
        attempts.push(attempt);
        await finish.opened;
      },
      { lease: LEASE },
    );
    const module = { defaults: options };
    const { producer } = await scene.startApp({ module, providers: [provider] });
    await producer.offer(queue, 1, 0, { id: 'held', ...(group && { group }) });
    await until(() => attempts.length === 1);
    await until(async () => (await forgetLeases(queue)) > 0);
    await scene.startApp({ module, providers: [provider] });
    const deletedAt = Date.now();
    await until(() => Date.now() > deletedAt + 2 * LEASE, { within: 15_000 });
    finish.open();
    await until(async () => Object.values(await producer.counts(queue)).every((count) => count === 0));
    expect(attempts).toEqual([1]);
  });
});

/** The numbers of orphaned messages that the log reports. */
function tally(log: readonly string[]): { ready: number; delayed: number } {
  const found = log.map((line) => /were orphaned .*; (\d+) are ready now and (\d+) delayed/.exec(line));
  const sum = (group: number) => found.reduce((total, match) => total + Number(match?.[group] ?? 0), 0);
  return { ready: sum(1), delayed: sum(2) };
}
