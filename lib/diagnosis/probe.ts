import { nativeCodec } from '../message/codec/native-codec.js';
import type { Events } from '../events/events.js';
import type { DelayedMessage } from '../message/message.js';
import { NO_TYPE } from '../message/message-id.js';
import { resolveQueueOptions } from '../options/resolve-options.js';
import { QueueWorker } from '../consumer/queue-worker.js';
import { createRunner } from '../runtime/create-runner.js';
import { Queue } from '../runtime/queues.js';
import { nativeLayout } from '../store/native/native-layout.js';
import type { RedisConnections } from '../redis/redis-connections.js';
import { systemClock } from '../timing/clock.js';

/** Delay of the probe, ms: long enough for the worker to subscribe and to wait for its wake-up signal. */
const DELAY = 300;

export interface ProbeSettings {
  readonly connections: RedisConnections;
  readonly events: Events;
  readonly prefix: string;
  readonly queue: string;
  /** How long to wait for the message after its due time, and how long a call may take, ms. */
  readonly patience: number;
}

/**
 * Offers a message to a queue reserved for the probe and handles it here, with the same worker as in an application. The queue is not
 * registered, and leaves no key behind.
 * @returns how late the message was, ms; undefined if it did not arrive in time
 */
export async function sendProbe({ connections, events, prefix, queue, patience }: ProbeSettings) {
  const options = resolveQueueOptions();
  const { blockTimeout, partitions } = options;
  const toOpen = { prefix, queue, partitions, limitsOf: () => options, blockTimeout, clock: systemClock, events };
  const router = nativeLayout.open(connections, toOpen);
  const store = router.stores[0]!;
  const arrival = new Arrival(DELAY + patience);
  const handler = { name: 'doctor', type: NO_TYPE, options: {}, call: arrival.note };
  const parts = { clock: systemClock, events, random: Math.random };
  const worker = new QueueWorker({
    ...parts,
    queue,
    options,
    router,
    runner: createRunner(new Queue(queue, options, router), [{ handler, options }], parts),
    processId: queue,
    answerTimeout: patience,
  });
  worker.start();
  try {
    const body = nativeCodec.encode({ type: NO_TYPE, payload: 'probe', headers: {} });
    await store.offer([{ id: 'probe', due: { after: DELAY }, onDuplicate: 'keep', body }]);
    return await arrival.lateness;
  } finally {
    arrival.cancel();
    await worker.stopClaiming();
    await worker.drained();
    // Cancels the worker's timers, which would keep the process alive.
    worker.abandon();
    await store.clear();
  }
}

/** Waits for the probe's message. */
class Arrival {
  readonly lateness: Promise<number | undefined>;
  #arrived!: (lateness: number | undefined) => void;
  readonly cancel: () => void;

  /** @param within - maximum wait, ms */
  constructor(within: number) {
    this.lateness = new Promise((resolve) => (this.#arrived = resolve));
    this.cancel = systemClock.schedule(() => this.#arrived(undefined), within);
  }

  readonly note = (_: unknown, message: unknown): void => {
    this.#arrived((message as DelayedMessage).lateness);
  };
}
