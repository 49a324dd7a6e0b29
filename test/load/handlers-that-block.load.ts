import { describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DelayQueueProducer, QueueOptions } from '../../lib/index.js';
import { block } from '../support/block.js';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import { handlerOf, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';
import type { Task } from '../support/worker/worker-settings.js';

/** The shortest lease allowed. */
const LEASE = 1000;

/** Waits until only dead letters are left, if any. */
async function untilNoneIsOnItsWay(producer: DelayQueueProducer, queue: string, within: number): Promise<void> {
  await until(
    async () => {
      const { delayed, ready, active } = await producer.counts(queue);
      return delayed + ready + active === 0;
    },
    { within, every: 50 },
  );
}

describe.each(['memory', 'redis'] as const)('handlers that block the event loop, with the %s store', (store) => {
  const scene = new Scene();

  /** Handles messages that are all due before the first one is handled. */
  async function handleAll(
    payloads: readonly number[],
    handle: (ms: number) => unknown,
    options: QueueOptions = {},
  ): Promise<{ app: TestApp; handled: Handled }> {
    const queue = scene.newQueue();
    const handled = new Handled();
    const handler = handlerOf<number>(
      queue,
      (ms, message) => {
        handled.record(ms, message);
        return handle(ms);
      },
      { lease: LEASE, ...options },
    );
    const app = await scene.startApp({ module: { store }, providers: [handler] });
    const { producer } = app;
    await producer.pause(queue);
    await producer.offerMany(
      queue,
      payloads.map((payload, i) => ({ payload, delay: 0, id: `m${i}` })),
    );
    await until(async () => (await producer.counts(queue)).ready === payloads.length);
    await producer.resume(queue);
    await untilNoneIsOnItsWay(producer, queue, 15_000);
    expect(await producer.counts(queue)).toMatchObject({ dead: 0 });
    return { app, handled };
  }

  /** Expects exactly one call for each message, on its first attempt. */
  function expectOnce({ handled, count }: { handled: Handled; count: number }): void {
    expect(handled.calls.map(({ id, attempt }) => `${id} ${attempt}`).sort()).toEqual(
      Array.from({ length: count }, (_, i) => `m${i} 1`).sort(),
    );
  }

  test('handle each message of a claim once, even if the claim takes longer than its lease', async () => {
    const { app, handled } = await handleAll(Array<number>(16).fill(100), block);
    expectOnce({ handled, count: 16 });
    expect(app.log.filter((line) => line.includes('blocked handlers left no time'))).toHaveLength(1);
  });

  test('are called once for each message if they are async and block before their first await', async () => {
    const { handled } = await handleAll(Array<number>(16).fill(100), async (ms) => {
      block(ms);
      await sleep(20);
    });
    expectOnce({ handled, count: 16 });
  });

  test('handle hundreds of messages once each at high concurrency', async () => {
    const { handled } = await handleAll(Array<number>(180).fill(8), block, { concurrency: 1000 });
    expectOnce({ handled, count: 180 });
  });

  test('do not use up attempts of other messages in the same claim if one of them blocks for longer than the lease', async () => {
    const payloads = [0, 0, 0, LEASE * 1.5, ...Array<number>(12).fill(0)];
    const { handled } = await handleAll(payloads, block);
    expectOnce({ handled, count: payloads.length });
  });

  test('do not use up attempts of the messages in the next claim if one of them blocks for longer than the lease', async () => {
    const payloads = [...Array<number>(49).fill(0), LEASE * 1.5, ...Array<number>(50).fill(0)];
    const { handled } = await handleAll(payloads, block, { concurrency: 100 });
    expectOnce({ handled, count: payloads.length });
  });
});

describe('handlers that block the event loop, in several processes', () => {
  const scene = new Scene();

  async function handleAll(count: number, { concurrency, ms }: { concurrency: number; ms: number }) {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    await producer.pause(queue);
    await producer.offerMany(
      queue,
      Array.from({ length: count }, (_, i) => ({ payload: { do: 'block', ms } satisfies Task, delay: 0, id: `m${i}` })),
    );
    const settings = { queue, handler: { lease: LEASE, concurrency, attempts: 2 } };
    const workers = await Promise.all([scene.startWorker(settings), scene.startWorker(settings)]);
    await until(async () => (await producer.counts(queue)).ready === count);
    await producer.resume(queue);
    await untilNoneIsOnItsWay(producer, queue, 20_000);
    const starts = workers.map((worker) => worker.of('start').map(({ id, attempt }) => `${id} ${attempt}`));
    return { starts, dead: (await producer.counts(queue)).dead };
  }

  test.each([
    { count: 60, concurrency: 16, ms: 100 },
    { count: 300, concurrency: 1000, ms: 15 },
  ])(
    'handle $count messages of $ms ms once each, without dead letters, and share the work',
    async ({ count, ...given }) => {
      const { starts, dead } = await handleAll(count, given);
      console.log(`blocking handlers: ${starts.map(({ length }) => length).join(' + ')} starts for ${count} messages`);
      expect(dead).toBe(0);
      expect(starts.flat().sort()).toEqual(Array.from({ length: count }, (_, i) => `m${i} 1`).sort());
      for (const { length } of starts) expect(length).toBeGreaterThan(count / 5);
    },
  );
});
