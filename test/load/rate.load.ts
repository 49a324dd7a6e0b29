import { describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandCount } from '../support/command-count.js';
import { Handled } from '../support/handled.js';
import { layouts } from '../support/layouts.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';
import type { Task } from '../support/worker/worker-settings.js';

const SECOND = 1000;
/** The time that may pass between a claim and the start of its handler on a busy machine, ms. */
const TOLERANCE = 250;

const LAYOUTS = Object.entries(layouts);

/** The most starts in any window of a length. */
function maxWithin(length: number, starts: readonly number[]): number {
  const sorted = starts.toSorted((a, b) => a - b);
  let first = 0;
  return Math.max(
    ...sorted.map((at, i) => {
      while (sorted[first]! <= at - length) first++;
      return i - first + 1;
    }),
  );
}

describe('a queue with a rate', () => {
  const scene = new Scene({});
  const messages = (count: number, payload: unknown = {}) =>
    Array.from({ length: count }, () => ({ payload, delay: 0 }));

  test.each(LAYOUTS)('reaches its rate across all processes and never exceeds it: %s', async (_, layout) => {
    const queue = scene.newQueue();
    const rate = { max: 100, per: SECOND };
    const module = { queues: { [queue]: { layout, rate } } };
    const handled = new Handled();
    const apps = await Promise.all(
      [1, 2, 3].map(() => scene.startApp({ module, providers: [handlerOf(queue, handled.record)] })),
    );
    const begin = Date.now();
    await apps[0]!.producer.offerMany(queue, messages(550));
    await handled.untilCalls(550, { within: 15_000 });
    const took = Date.now() - begin;
    const starts = handled.calls.map(({ at }) => at);
    console.log(`550 messages at ${rate.max} a second took ${took} ms`);

    expect(maxWithin(SECOND - TOLERANCE, starts)).toBeLessThanOrEqual(rate.max);
    // The last fifty need not wait for the rest of their second.
    expect(took).toBeGreaterThanOrEqual(5 * SECOND);
    expect(took).toBeLessThanOrEqual((5 * SECOND) / 0.9 + TOLERANCE);
    expect(new Set(handled.ids).size).toBe(550);
    expect(handled.calls.every(({ attempt }) => attempt === 1)).toBe(true);
  });

  test('does not exceed its rate when one of its processes is killed, and loses nothing', async () => {
    const queue = scene.newQueue();
    const rate = { max: 50, per: SECOND };
    const module = { queues: { [queue]: { rate, lease: SECOND } } };
    const { producer } = await scene.startApp({ module: { ...module, consume: false } });
    const workers = await Promise.all([1, 2, 3].map(() => scene.startWorker({ queue, module })));
    const task: Task = { do: 'work', ms: 20 };
    const offered = await producer.offerMany(queue, messages(300, task));
    await until(() => workers.some((worker) => worker.of('end').length > 0));
    const busiest = workers.reduce((a, b) => (a.of('start').length > b.of('start').length ? a : b));
    await busiest.end('SIGKILL');
    const done = () => new Set(workers.flatMap((worker) => worker.of('end').map(({ id }) => id)));
    await until(() => done().size === offered.length, { within: 20_000 });

    // All were due at about the same time.
    const starts = workers.flatMap((worker) => worker.of('start').map(({ late }) => late));
    expect(maxWithin(SECOND - TOLERANCE, starts)).toBeLessThanOrEqual(rate.max);
    expect(await producer.counts(queue)).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
  });

  test.each(LAYOUTS)('causes few calls while its rate is used up: %s', async (_, layout) => {
    const queue = scene.newQueue();
    const module = { queues: { [queue]: { layout, rate: { max: 5, per: '1h' } } } };
    const handled = new Handled();
    const apps = await Promise.all(
      [1, 2, 3].map(() => scene.startApp({ module, providers: [handlerOf(queue, handled.record)] })),
    );
    await apps[0]!.producer.offerMany(queue, messages(20));
    await handled.untilCalls(5);
    await sleep(SECOND);
    const count = await CommandCount.start(scene.redis);
    await sleep(5 * SECOND);
    const calls = await count.stop();

    // Each process transfers once a second, which is all there is.
    expect(calls.evalsha).toBeLessThanOrEqual(3 * 7);
    expect((calls.blpop ?? 0) + (calls.blmove ?? 0)).toBe(0);
    expect(calls.rpush ?? 0).toBe(0);
    expect(handled.calls).toHaveLength(5);
  });
});
