import { describe, expect, it } from '@jest/globals';
import type { DelayedMessageHandler } from '../../lib/handler/handler-registry.js';
import { NO_TYPE } from '../../lib/message/message-id.js';
import { resolveQueueOptions } from '../../lib/options/resolve-options.js';
import { QueueWorker } from '../../lib/consumer/queue-worker.js';
import { createRunner } from '../../lib/runtime/create-runner.js';
import { Queue } from '../../lib/runtime/queues.js';
import { MemoryMessageStore } from '../../lib/store/memory/memory-store.js';
import type { MessageStore } from '../../lib/store/message-store.js';
import { Reading, type Router } from '../../lib/store/router.js';
import { systemClock } from '../../lib/timing/clock.js';
import { LoggedEvents } from '../support/logged-events.js';
import { until } from '../support/until.js';

const options = resolveQueueOptions({ concurrency: 4 });

/** A worker of a queue that begins with one of three partitions. */
function newWorker(given: Partial<DelayedMessageHandler> = {}) {
  const all = Array.from({ length: 3 }, () => new MemoryMessageStore({ limits: options, clock: systemClock }));
  let stores: readonly MessageStore[] = all.slice(0, 1);
  let tell = () => undefined as void;
  const notCalled = () => Promise.reject(new Error('A worker does not call it.'));
  const router: Router = {
    get stores() {
      return stores;
    },
    route: () => all[0]!,
    lookUp: notCalled,
    read: (look) => look(new Reading(stores)),
    withAll: (work) => work(stores.map((store, partition) => ({ store, name: `partition ${partition}` }))),
    changes: {
      partitions: 1,
      offerAgain: notCalled,
      follow: (listener) => {
        tell = listener;
        return () => undefined;
      },
    },
  };
  const handled: string[] = [];
  const events = new LoggedEvents();
  const call = (_: unknown, message: { readonly id: string }) => void handled.push(message.id);
  const handler = { name: 'Test.handle', type: NO_TYPE, options: {}, call: call as never, ...given };
  const parts = { clock: systemClock, events, random: () => 0.5 };
  const worker = new QueueWorker({
    ...parts,
    queue: 'orders',
    options,
    router,
    runner: createRunner(new Queue('orders', options, router), [{ handler, options }], parts),
    processId: 'a',
    answerTimeout: 5000,
  });
  const offer = (partition: number, id: string) =>
    all[partition]!.offer([{ id, due: { after: 0 }, onDuplicate: 'keep', body: 'J1' }]);
  const change = (width: number) => {
    stores = all.slice(0, width);
    tell();
  };
  const stop = async () => {
    await worker.stopClaiming();
    await worker.drained();
    worker.abandon();
  };
  return { all, handled, worker, offer, change, stop };
}

describe('a queue worker', () => {
  it('serves added partitions until they are removed', async () => {
    const { all, handled, worker, offer, change, stop } = newWorker();
    worker.start();
    await offer(2, 'early');
    await offer(0, 'a');
    await until(() => handled.includes('a'));
    expect(handled).toEqual(['a']);

    change(3);
    await until(() => handled.includes('early'));
    for (const partition of [0, 1, 2]) await offer(partition, `b${partition}`);
    await until(() => handled.length === 5);

    change(1);
    await offer(2, 'late');
    await offer(0, 'c');
    await until(() => handled.includes('c'));
    expect(handled).not.toContain('late');
    expect((await all[2]!.status()).counts).toMatchObject({ delayed: 1, active: 0 });
    await stop();
    expect(worker.held).toBe(0);
  });

  it('handles batches of the remaining partitions when some are removed', async () => {
    const batches: string[][] = [];
    const call = (_: unknown, messages: unknown) =>
      void batches.push((messages as readonly { readonly id: string }[]).map(({ id }) => id));
    const { worker, offer, change, stop } = newWorker({ call, batch: { size: 2, wait: 0, isPerGroup: false } });
    change(3);
    worker.start();
    await offer(2, 'a');
    await until(() => batches.flat().includes('a'));
    change(1);
    await offer(0, 'b');
    await until(() => batches.flat().includes('b'));
    expect(batches).toEqual([['a'], ['b']]);
    await stop();
  });
});
