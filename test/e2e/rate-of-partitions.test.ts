import { describe, expect, test } from '@jest/globals';
import type { DelayQueueModuleOptions } from '../../lib/index.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

/** Short enough for several windows, long enough to notice messages beyond the rate, ms. */
const WINDOW = 800;
/** Claims are counted by the store's clock, handlers begin a little later, ms. */
const BLUR = 200;
const PARTITIONS = 3;

/** The largest number of handlers that began within a window of the rate. */
function mostWithinWindow(begun: readonly number[]): number {
  return Math.max(...begun.map((at) => begun.filter((other) => other >= at && other < at + WINDOW - BLUR).length));
}

describe.each<[string, DelayQueueModuleOptions]>([
  ['Redis', {}],
  ['memory', { store: 'memory' }],
])('the rate of a queue with partitions: %s', (_name, module) => {
  const scene = new Scene();

  async function start(max: number) {
    const queue = scene.newQueue();
    const begun: number[] = [];
    const handler = handlerOf(queue, () => void begun.push(performance.now()));
    const options = { ...module, queues: { [queue]: { partitions: PARTITIONS, rate: { max, per: WINDOW } } } };
    const { producer } = await scene.startApp({ module: options, providers: [handler] });
    if (module.store !== 'memory') await scene.startApp({ module: options, providers: [handler] });
    const offer = (count: number) =>
      producer.offerMany(
        queue,
        Array.from({ length: count }, (_, i) => ({ payload: i, delay: 1 })),
      );
    return { queue, producer, begun, offer };
  }

  test('is kept by all partitions and processes together, and used by all partitions', async () => {
    const { begun, offer } = await start(7);
    const startedAt = performance.now();
    await offer(24);
    await until(() => begun.length === 24, { within: 20_000 });
    expect(mostWithinWindow(begun)).toBeLessThanOrEqual(7);
    // Each partition has a share of two. One has at least eight messages, and none has more than 24.
    expect(mostWithinWindow(begun)).toBeGreaterThan(2);
    expect(begun.at(-1)! - startedAt).toBeGreaterThan(3 * WINDOW - BLUR);
  });

  test('can be set and reset while the queue runs', async () => {
    const { queue, producer, begun, offer } = await start(300);
    await producer.limits(queue).set({ rate: { max: PARTITIONS, per: WINDOW } });
    await offer(12);
    await until(() => begun.length === 12, { within: 20_000 });
    expect(mostWithinWindow(begun)).toBeLessThanOrEqual(PARTITIONS);
    await producer.limits(queue).reset();
    begun.length = 0;
    await offer(60);
    await until(() => begun.length === 60, { within: WINDOW + 5000 });
    expect(mostWithinWindow(begun)).toBeGreaterThan(2 * PARTITIONS);
  });
});

describe('the rate of a queue whose partitions grow', () => {
  const scene = new Scene();

  test('is divided anew', async () => {
    const queue = scene.newQueue();
    const begun: number[] = [];
    const handler = handlerOf(queue, () => void begun.push(performance.now()));
    const start = (partitions: number) =>
      scene.startApp({
        module: { queues: { [queue]: { partitions, rate: { max: 6, per: WINDOW } } } },
        providers: [handler],
      });
    const { producer } = await start(2);
    await producer.offer(queue, 'first', 0);
    await until(() => begun.length === 1);
    await start(6);
    await until(async () => (await producer.counts(queue)).active === 0);
    begun.length = 0;
    await producer.offerMany(
      queue,
      Array.from({ length: 30 }, (_, i) => ({ payload: i, delay: 1 })),
    );
    await until(() => begun.length === 30, { within: 20_000 });
    expect(mostWithinWindow(begun)).toBeLessThanOrEqual(6);
  });

  test('refuses more partitions than it can be divided among', async () => {
    const queue = scene.newQueue();
    await scene.startApp({ providers: [handlerOf(queue, () => undefined, { partitions: 4 })] });
    const started = scene.startApp({
      providers: [handlerOf(queue, () => undefined, { partitions: 2, rate: { max: 3, per: '1s' } })],
    });
    await expect(started).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining('a rate, which needs a max of at least 4'),
    });
  });
});
