import type { Events } from '../events/events.js';
import type { MessageStore } from '../store/message-store.js';
import { type Clock, RemoteClock } from '../timing/clock.js';
import type { Activity } from './activity.js';
import type { Slots } from './capacity.js';
import { ConsumerLoop } from './consumer-loop.js';
import type { MessageRunner } from './message-runner.js';
import { Repairer } from './repairer.js';
import type { SettledHistory } from './settler.js';
import { TransferScheduler } from './transfer-scheduler.js';

/**
 * The maximum round trip, ms, of an answer that tells the store's time precisely enough. Messages may expire early by this much. After a
 * slower answer, the store is asked again.
 */
const MAX_ROUND_TRIP = 50;

export interface PartitionWorkerOptions {
  readonly queue: string;
  readonly options: {
    /** The maximum number of handler calls at once. */
    readonly concurrency: number;
    /** The length of a lease, ms. */
    readonly lease: number;
    /** How long the consumer blocks while it waits for the wake-up signal, ms. */
    readonly blockTimeout: number;
    /** The maximum time between two transfers, ms. */
    readonly checkInterval: number;
  };
  readonly store: MessageStore;
  readonly runner: MessageRunner;
  readonly slots: Slots;
  /** Counts what the handlers do; undefined if nothing does. */
  readonly activity?: Activity | undefined;
  /** Undefined if handled messages are not remembered. */
  readonly history?: SettledHistory | undefined;
  readonly clock: Clock;
  readonly events: Events;
  /** Returns a number from 0 to 1, for jitter. */
  readonly random: () => number;
  /** Distinguishes this process's schedulers from those of others. */
  readonly processId: string;
  /** How long the store waits for an answer, ms. */
  readonly answerTimeout: number;
  /** Called after each search for orphaned messages. */
  readonly onChecked: (() => void) | undefined;
}

/** The result of a visit to a queue or partition. */
export interface Visit {
  /** True if the queue or partition has active or ready messages, or may have some. */
  readonly hasFound: boolean;
  /** True if messages may remain. They are handled once the worker is started. */
  readonly isMore: boolean;
  /** Milliseconds until a message falls due or a lease ends; null if neither will happen. */
  readonly nextIn: number | null;
}

/** Serves one partition of a queue with a consumer loop, a transfer scheduler that also claims for the loop, and a repairer. */
export class PartitionWorker {
  readonly loop: ConsumerLoop;
  readonly scheduler: TransferScheduler;
  readonly repairer: Repairer;
  #isStarted = false;
  #isRepaired = false;
  #stopped: Promise<void> | undefined;

  constructor({ options, processId, onChecked, ...parts }: PartitionWorkerOptions) {
    const { lease, blockTimeout, checkInterval } = options;
    const storeClock = new RemoteClock(MAX_ROUND_TRIP);
    this.loop = new ConsumerLoop({ ...parts, lease, blockTimeout, storeClock });
    this.scheduler = new TransferScheduler({ ...parts, id: processId, checkInterval, storeClock, consumer: this.loop });
    this.repairer = new Repairer({ ...parts, lease, onChecked });
  }

  /**
   * Transfers and claims due messages, and starts their handlers, without waiting for more. If messages are still ready after the transfer,
   * claims them separately. Throws whatever the store throws, unless this worker holds messages or may hold some.
   */
  async visit(): Promise<Visit> {
    const { scheduler, loop } = this;
    try {
      const { ready, nextIn } = await scheduler.runOnce();
      const isMore = ready > 0 && (await loop.visit());
      return { hasFound: ready > 0 || loop.mayHold, isMore, nextIn };
    } catch (error) {
      if (!loop.mayHold) throw error;
      return { hasFound: true, isMore: true, nextIn: null };
    }
  }

  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.repair();
    this.scheduler.start();
    this.loop.start();
  }

  /** Starts the search for orphaned messages. */
  repair(): void {
    if (!this.#isRepaired) this.repairer.start();
    this.#isRepaired = true;
  }

  /** Stops everything except running handlers and the settling of their outcomes. */
  stop(): Promise<void> {
    const { scheduler, repairer, loop } = this;
    return (this.#stopped ??= Promise.all([scheduler.stop(), repairer.stop(), loop.stopClaiming()]).then(
      () => undefined,
    ));
  }

  /** Stops settling and extending leases. Messages still held become ready when their leases end. */
  abandon(): void {
    this.scheduler.leave();
    void this.repairer.stop();
    this.loop.abandon();
  }
}
