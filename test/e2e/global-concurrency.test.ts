import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { describe, expect, test } from '@jest/globals';
import {
  DelayedHandler,
  type DelayedMessage,
  type DelayQueueModuleOptions,
  DeferMessage,
  type QueueOptions,
} from '../../lib/index.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const LIMIT = 3;
const BACKOFF = { type: 'fixed', delay: 50 } as const;

describe.each<[string, DelayQueueModuleOptions, number]>([
  ['Redis', {}, 3],
  ['memory', { store: 'memory' }, 1],
])('a queue with a global concurrency: %s', (_name, module, apps) => {
  const scene = new Scene();

  /** Starts applications that count how many of their handlers run at once. */
  async function start(
    handle: (payload: number, message: DelayedMessage<number>) => unknown,
    options: QueueOptions = {},
  ) {
    const queue = scene.newQueue();
    const seen = { running: 0, most: 0, handled: [] as number[], by: new Array<number>(apps).fill(0) };
    const started = await Promise.all(
      Array.from({ length: apps }, (_, place) =>
        scene.startApp({
          module: { ...module, queues: { [queue]: { globalConcurrency: LIMIT, backoff: BACKOFF, ...options } } },
          providers: [
            handlerOf<number>(queue, async (payload, message) => {
              seen.most = Math.max(seen.most, ++seen.running);
              seen.by[place]!++;
              try {
                await handle(payload, message);
                seen.handled.push(payload);
              } finally {
                seen.running--;
              }
            }),
          ],
        }),
      ),
    );
    return { queue, seen, producer: started[0]!.producer };
  }

  const numbered = (count: number, more: (i: number) => object = () => ({})) =>
    Array.from({ length: count }, (_, i) => ({ payload: i, delay: 0, ...more(i) }));

  test('is used up but never exceeded, and every process gets its share', async () => {
    const { queue, seen, producer } = await start(() => sleep(10));
    await producer.offerMany(queue, numbered(90));
    await until(() => seen.handled.length === 90, { within: 20_000 });
    expect(seen.most).toBe(LIMIT);
    for (const count of seen.by) expect(count).toBeGreaterThanOrEqual(90 / apps / 3);
  });

  test('holds for messages with and without groups together, and serves both', async () => {
    const { queue, seen, producer } = await start(() => sleep(10), { groups: { concurrency: 2 } });
    // All are ready before the first is handled.
    await producer.pause(queue);
    await producer.offerMany(
      queue,
      numbered(60, (i) => (i % 2 === 0 ? { group: `g${i % 3}` } : {})),
    );
    await until(async () => (await producer.counts(queue)).ready === 60);
    await producer.resume(queue);
    await until(() => seen.handled.length >= 30, { within: 20_000 });
    const early = seen.handled.slice(0, 30).filter((i) => i % 2 === 0).length;
    expect(early).toBeGreaterThan(5);
    expect(early).toBeLessThan(25);
    await until(() => seen.handled.length === 60, { within: 20_000 });
    expect(seen.most).toBe(LIMIT);
  });

  test('counts no message that waits for its retry or was deferred, even if it keeps the permit of its group', async () => {
    const waiting = { type: 'fixed', delay: '1h' } as const;
    const { queue, seen, producer } = await start(
      (payload) => {
        if (payload < LIMIT) throw new Error('not yet');
        if (payload < 2 * LIMIT) throw new DeferMessage('1h');
      },
      { groups: { onRetry: 'hold' }, backoff: waiting },
    );
    await producer.offerMany(
      queue,
      numbered(10, (i) => (i < 5 ? { group: `g${i}` } : {})),
    );
    await until(() => seen.handled.length === 10 - 2 * LIMIT, { within: 10_000 });
    await until(async () => (await producer.counts(queue)).delayed === 2 * LIMIT);
    expect(seen.handled.every((payload) => payload >= 2 * LIMIT)).toBe(true);
  });

  test('goes on after messages have expired, died or been aborted', async () => {
    const { queue, seen, producer } = await start(
      (payload, { signal }) => {
        if (payload < LIMIT) throw new Error('never');
        if (payload === LIMIT) return new Promise((resolve) => signal.addEventListener('abort', resolve));
        return undefined;
      },
      { attempts: 1 },
    );
    await producer.offerMany(
      queue,
      numbered(10, (i) => (i === LIMIT ? { id: 'endless' } : i > 7 ? { expiresAfter: 0 } : {})),
    );
    await until(async () => (await producer.find(queue, 'endless'))?.state === 'active');
    expect(await producer.abort(queue, 'endless')).toBe(true);
    const last = await producer.offer(queue, 99, 0);
    await until(() => seen.handled.includes(99), { within: 10_000 });
    expect(last.created).toBe(true);
    await until(async () => (await producer.counts(queue)).active === 0);
    expect((await producer.counts(queue)).dead).toBe(LIMIT);
  });

  test('counts each message of a batch', async () => {
    const queue = scene.newQueue();
    const sizes: number[] = [];
    @Injectable()
    class Batches {
      @DelayedHandler(queue, { batch: 10, batchWait: 50, globalConcurrency: LIMIT })
      handle(payloads: number[]): void {
        sizes.push(payloads.length);
      }
    }
    const { producer } = await scene.startApp({ module, providers: [Batches] });
    await producer.offerMany(queue, numbered(10));
    await until(() => sizes.reduce((sum, size) => sum + size, 0) === 10, { within: 10_000 });
    expect(Math.max(...sizes)).toBeLessThanOrEqual(LIMIT);
  });
});
