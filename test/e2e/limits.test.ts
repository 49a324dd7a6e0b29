import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import type { DelayQueueModuleOptions, QueueOptions } from '../../lib/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

/** A second for the processes to follow, and time for a busy machine. */
const SOON = 4000;

describe.each<[string, DelayQueueModuleOptions, number]>([
  ['Redis', {}, 2],
  ['memory', { store: 'memory' }, 1],
])('limits that change while a queue runs: %s', (_name, module, apps) => {
  const scene = new Scene();

  async function start(options: QueueOptions = {}) {
    const queue = scene.newQueue();
    const seen = { running: 0, most: 0, started: 0 };
    const ends: (() => void)[] = [];
    const settings = {
      module: { ...module, queues: { [queue]: options } },
      providers: [
        handlerOf(queue, async () => {
          seen.started++;
          seen.most = Math.max(seen.most, ++seen.running);
          await new Promise<void>((resolve) => ends.push(resolve));
          seen.running--;
        }),
      ],
    };
    const started = await Promise.all(Array.from({ length: apps }, () => scene.startApp(settings)));
    const { producer } = started[0]!;
    const offer = (count: number, group?: string) =>
      producer.offerMany(
        queue,
        Array.from({ length: count }, () => ({ payload: null, delay: 0, ...(group !== undefined && { group }) })),
      );
    const endAll = () => ends.splice(0).forEach((end) => end());
    const startAnother = () => scene.startApp(settings);
    return { queue, producer, seen, offer, endAll, startAnother };
  }

  test('are null until somebody sets them, and show who did so and when', async () => {
    const { queue, producer } = await start();
    const limits = producer.limits(queue);
    expect(await limits.get()).toBeNull();
    await limits.set({ globalConcurrency: 5, rate: { max: 100, per: '1s' } }, { by: 'alice' });
    const set = await limits.get();
    expect(set).toEqual({
      globalConcurrency: 5,
      rate: { max: 100, per: 1000 },
      setBy: 'alice',
      setAt: expect.any(Date),
    });
    expect(Math.abs(set!.setAt.getTime() - Date.now())).toBeLessThan(60_000);
    await limits.set({ rate: 'unlimited' });
    expect(await limits.get()).toEqual({ rate: 'unlimited', setBy: expect.any(String), setAt: expect.any(Date) });
    expect(await limits.reset()).toBe(true);
    expect(await limits.reset()).toBe(false);
    expect(await limits.get()).toBeNull();
  });

  test('lower the global concurrency for messages that are claimed from then on', async () => {
    const { queue, producer, seen, offer, endAll } = await start();
    await producer.limits(queue).set({ globalConcurrency: 2 });
    await sleep(500);
    await offer(6);
    await until(() => seen.started === 2, { within: SOON });
    await sleep(300);
    expect(seen.most).toBe(2);
    endAll();
    await until(() => seen.started === 4, { within: SOON });
    endAll();
    await until(() => seen.started === 6, { within: SOON });
    expect(seen.most).toBe(2);
    endAll();
  });

  test('raise or lift a global concurrency at once, although all consumers wait', async () => {
    const { queue, producer, seen, offer, endAll } = await start({ globalConcurrency: 1 });
    await offer(10);
    await until(() => seen.started === 1, { within: SOON });
    await producer.limits(queue).set({ globalConcurrency: 4 });
    await until(() => seen.started === 4, { within: SOON });
    await producer.limits(queue).set({ globalConcurrency: 'unlimited' });
    await until(() => seen.started === 10, { within: SOON });
    expect(seen.most).toBe(10);
    endAll();
  });

  test('end the wait for a rate that no longer applies, and make the options decide again', async () => {
    const { queue, producer, seen, offer, endAll } = await start({ rate: { max: 1, per: '1h' } });
    await offer(3);
    await until(() => seen.started === 1, { within: SOON });
    await producer.limits(queue).set({ rate: 'unlimited' });
    await until(() => seen.started === 3, { within: SOON });
    await producer.limits(queue).reset();
    await sleep(500);
    await offer(3);
    await sleep(500);
    // What was claimed without a rate did not count.
    expect(seen.started).toBe(3);
    endAll();
  });

  test('hold for messages with and without groups', async () => {
    const { queue, producer, seen, offer, endAll } = await start({ groups: { concurrency: 'unlimited' } });
    await producer.limits(queue).set({ globalConcurrency: 3 });
    await sleep(500);
    await offer(5);
    await offer(5, 'one');
    await until(() => seen.started === 3, { within: SOON });
    await sleep(300);
    expect(seen.most).toBe(3);
    await producer.limits(queue).reset();
    await until(() => seen.started === 10, { within: SOON });
    endAll();
  });

  test('are refused with an error that names the field and the fix', async () => {
    const { queue, producer } = await start();
    const limits = producer.limits(queue);
    const given: readonly [object, string][] = [
      [{}, 'must be { globalConcurrency?, rate? } with at least one of them, such as { globalConcurrency: 5 }'],
      [{ globalConcurrency: 0 }, 'globalConcurrency must be a whole number from 1 to 10000, not 0'],
      [{ rate: { max: 5 } }, 'rate.per is not a duration'],
      [{ concurrency: 5 }, 'concurrency is not an option; the options are globalConcurrency, rate'],
    ];
    for (const [each, problem] of given) {
      const error: unknown = await limits.set(each).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: 'INVALID_ARGUMENT' });
      expect((error as Error).message).toContain(problem);
    }
    await expect(limits.set({ globalConcurrency: 1 }, { by: '' })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('by must be 1–200 characters of text, not '),
    });
    expect(await limits.get()).toBeNull();
  });
});

describe('limits that change while a queue runs', () => {
  const scene = new Scene();

  test('apply to processes that start later, from their first claim on', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    await producer.limits(queue).set({ globalConcurrency: 1 });
    await producer.offerMany(
      queue,
      Array.from({ length: 5 }, () => ({ payload: null, delay: 0 })),
    );
    let [running, most, handled] = [0, 0, 0];
    const handle = async () => {
      most = Math.max(most, ++running);
      await sleep(50);
      running--;
      handled++;
    };
    await Promise.all([1, 2].map(() => scene.startApp({ providers: [handlerOf(queue, handle)] })));
    await until(() => handled === 5, { within: 10_000 });
    expect(most).toBe(1);
  });

  test('apply to the queues of a family', async () => {
    const prefix = `${scene.newQueue()}-`;
    let [running, most] = [0, 0];
    const handled = new Handled();
    const app = await scene.startApp({
      providers: [
        handlerOf(`${prefix}*`, async (payload, message) => {
          most = Math.max(most, ++running);
          await sleep(50);
          running--;
          handled.record(payload, message);
        }),
      ],
    });
    await app.producer.offer(`${prefix}1`, 'first', 0);
    await until(() => handled.payloads.length === 1);
    await app.producer.limits(`${prefix}1`).set({ globalConcurrency: 1 });
    await sleep(500);
    await app.producer.offerMany(
      `${prefix}1`,
      Array.from({ length: 5 }, (_, i) => ({ payload: i, delay: 0 })),
    );
    await until(() => handled.payloads.length === 6, { within: 10_000 });
    expect(most).toBe(1);
  });

  test('are refused where partitions or a layout cannot keep to them', async () => {
    const [divided, grouped, shared] = [scene.newQueue(), scene.newQueue(), scene.newQueue()];
    const queues = {
      [divided]: { partitions: 2 },
      [grouped]: { partitions: 2, groups: {} },
      [shared]: { layout: redisson() },
    };
    const { producer } = await scene.startApp({ module: { queues } });
    await expect(producer.limits(divided).set({ globalConcurrency: 1 })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining(
        'globalConcurrency needs partitions: 1, because no claim sees the messages of all',
      ),
    });
    await expect(producer.limits(divided).set({ rate: { max: 1, per: '1s' } })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('rate.max must be at least 2, because each partition has an equal share'),
    });
    await expect(producer.limits(grouped).set({ rate: { max: 2, per: '1s' } })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('rate needs partitions: 1 if messages have groups'),
    });
    await expect(producer.limits(shared).set({ globalConcurrency: 1 })).rejects.toMatchObject({
      code: 'UNSUPPORTED_BY_LAYOUT',
    });
  });

  test('are refused by a process that has not heard of the partitions yet', async () => {
    const queue = scene.newQueue();
    await scene.startApp({ providers: [handlerOf(queue, () => undefined, { partitions: 2 })] });
    const { producer } = await scene.startApp({ module: { consume: false } });
    await expect(producer.limits(queue).set({ globalConcurrency: 1 })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('the queue has partitions: 2'),
    });
    expect(await producer.limits(queue).get()).toBeNull();
  });

  test('keep a process from starting with partitions', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    await producer.limits(queue).set({ rate: { max: 1, per: '1s' } });
    const started = scene.startApp({ providers: [handlerOf(queue, () => undefined, { partitions: 2 })] });
    await expect(started).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining('reset limits that were set while the queue runs'),
    });
  });

  test('are ignored where somebody else has written something unreadable', async () => {
    const queue = scene.newQueue();
    await scene.redis.hset(`${scene.prefix}:{@queues}:limits`, queue, '{"globalConcurrency":"many"}');
    const handled = new Handled();
    const { producer } = await scene.startApp({ providers: [handlerOf(queue, handled.record)] });
    await producer.offer(queue, 'a', 0);
    await until(() => handled.payloads.length === 1);
    expect(await producer.limits(queue).get()).toBeNull();
  });
});

describe('limits whose announcement got lost', () => {
  const scene = new Scene({});

  /** A process that has used up its rate, and another one that has lifted the rate without saying so. */
  async function liftSilently(settings: QueueOptions = {}) {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    const seen = { started: 0 };
    const rate = { max: 1, per: '1h' } as const;
    await scene.startApp({ providers: [handlerOf(queue, () => ++seen.started, { ...settings, rate })] });
    await producer.offerMany(
      queue,
      [1, 2].map(() => ({ payload: null, delay: 0 })),
    );
    await until(() => seen.started === 1);
    const limits = JSON.stringify({ rate: null, by: 'somebody', at: 0 });
    await scene.redis.hset(`${scene.prefix}:{@queues}:limits`, queue, limits);
    return { queue, producer, seen };
  }

  test('reach a process when its subscription is back', async () => {
    const { queue, producer, seen } = await liftSilently();
    const clients = String(await scene.redis.client('LIST', 'TYPE', 'PUBSUB'));
    for (const [, id] of clients.matchAll(/^id=(\d+) /gm)) await scene.redis.client('KILL', 'ID', id!);
    await until(() => seen.started === 2, { within: 10_000 });
    expect(await producer.limits(queue).get()).toMatchObject({ rate: 'unlimited', setBy: 'somebody' });
  });

  test('reach a process after its checkInterval', async () => {
    const { seen } = await liftSilently({ checkInterval: '1s' });
    await until(() => seen.started === 2, { within: 5000 });
    expect(seen.started).toBe(2);
  });
});
