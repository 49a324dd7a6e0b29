import { describe, expect, test } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { of } from 'rxjs';
import { again, DelayedHandler, type DelayQueueModuleOptions, type QueueOptions } from '../../lib/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { Latch } from '../support/latch.js';
import { Scene } from '../support/scene.js';
import { handlerOf, type TestAppParts } from '../support/test-app.js';
import { until } from '../support/until.js';

const STORES = {
  native: {},
  redisson: { defaults: { layout: redisson() } },
  memory: { store: 'memory' },
} satisfies Record<string, DelayQueueModuleOptions>;

type StoreName = keyof typeof STORES;

const pause = () => new Promise((resolve) => setTimeout(resolve, 2));

/** Each place is reported once, so each store has its own. */
const FORGETFUL: [what: string, StoreName, handle: () => unknown][] = [
  ['that does nothing else', 'native', () => void again('1d')],
  ['that does nothing else', 'redisson', () => void again('1d')],
  ['that does nothing else', 'memory', () => void again('1d')],
  [
    'that is async',
    'native',
    async () => {
      await pause();
      again('1d');
      await pause();
    },
  ],
  [
    'that returns an Observable',
    'redisson',
    () => {
      again('1d');
      return of(1);
    },
  ],
  ['that returns a copy', 'memory', () => ({ ...again('1d') })],
];

const CORRECT: Readonly<Record<string, () => unknown>> = {
  'returns again()': () => again('1d'),
  'resolves to again()': async () => {
    const value = again('1d');
    await pause();
    return value;
  },
  'ends an Observable with again()': () => of(again('1d')),
  'calls again() twice and returns one of the values': () => [again('1d'), again('2d')][1],
  'throws after calling again()': () => {
    again('1d');
    throw new Error('no');
  },
};

describe('a warning about an unreturned again()', () => {
  const scene = new Scene();

  async function startApp(store: StoreName, parts: TestAppParts) {
    const app = await scene.startApp({ module: STORES[store], ...parts });
    return { ...app, warnings: () => app.log.filter((line) => line.includes('again() was called')) };
  }

  const startWith = async (store: StoreName, handle: (payload: unknown) => unknown, options?: QueueOptions) => {
    const queue = scene.newQueue();
    return { queue, ...(await startApp(store, { providers: [handlerOf(queue, handle, options)] })) };
  };

  test.each(FORGETFUL)('is logged once, with the call site, for a handler %s, on %s', async (_what, store, handle) => {
    const { queue, producer, warnings } = await startWith(store, handle);
    for (const id of ['a', 'b', 'c']) {
      await producer.offer(queue, 'any', 0, { id });
      await until(async () => (await producer.find(queue, id)) === null);
    }
    await until(() => warnings().length > 0);
    expect(warnings()).toEqual([
      expect.stringMatching(
        /^warn again\(\) was called at .*again-unreturned\.test\.ts:\d+:\d+\)?, but its value was not returned, so the message is gone\. Write: return again\(…\)$/,
      ),
    ]);
  });

  test('is logged once for a batch handler', async () => {
    const queue = scene.newQueue();
    @Injectable()
    class Batches {
      @DelayedHandler(queue, { batch: 10, batchWait: 20 })
      handle(payloads: unknown[]): void {
        for (const _payload of payloads) again('1d');
      }
    }
    const { producer, warnings } = await startApp('native', { providers: [Batches] });
    await producer.offerMany(
      queue,
      [1, 2, 3].map((payload) => ({ payload, delay: 0 })),
    );
    await until(() => warnings().length > 0);
    expect(warnings()).toHaveLength(1);
  });

  describe.each(Object.keys(STORES) as StoreName[])('on %s', (store) => {
    test.each(Object.entries(CORRECT))('is not logged for a handler that %s', async (_what, handle) => {
      const { queue, producer, warnings, close } = await startWith(store, handle, { attempts: 1 });
      await producer.offer(queue, 'any', 0, { id: 'a' });
      await until(async () => ['delayed', 'dead'].includes(String((await producer.find(queue, 'a'))?.state)));
      await close();
      expect(warnings()).toEqual([]);
    });

    test('is not logged for a handler that returns the value late, after other messages have been handled', async () => {
      const done = new Latch();
      const { queue, producer, warnings } = await startWith(store, async (payload) => {
        if (payload !== 'slow') return undefined;
        const value = again('1d');
        await done.opened;
        return value;
      });
      await producer.offer(queue, 'slow', 0, { id: 'slow' });
      await until(async () => (await producer.counts(queue)).active === 1);
      for (const id of ['a', 'b']) {
        await producer.offer(queue, id, 0, { id });
        await until(async () => (await producer.find(queue, id)) === null);
      }
      done.open();
      await until(async () => (await producer.find(queue, 'slow'))?.state === 'delayed');
      expect(warnings()).toEqual([]);
    });
  });

  // This must be the last test, because nothing is watched after a timeout.
  test('is not logged if the handler returns again() after its timeout', async () => {
    const [asked, returned] = [new Latch(), new Latch()];
    const [late, other] = [scene.newQueue(), scene.newQueue()];
    const handleLate = async () => {
      await asked.opened;
      return again('1d');
    };
    const { producer, warnings } = await startApp('memory', {
      providers: [handlerOf(late, handleLate, { timeout: 20, attempts: 1 }), handlerOf(other, () => returned.opened)],
    });
    await producer.offer(late, 'any', 0);
    await until(async () => (await producer.counts(late)).dead === 1);
    await producer.offer(other, 'any', 0, { id: 'other' });
    await until(async () => (await producer.counts(other)).active === 1);
    asked.open();
    await pause();
    returned.open();
    await until(async () => (await producer.find(other, 'other')) === null);
    expect(warnings()).toEqual([]);
  });
});
