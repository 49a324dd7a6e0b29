import type { Events } from '../events/events.js';
import { FailureStreak, workFailures } from '../events/failure-streak.js';
import type { CancelTimer, Clock } from '../timing/clock.js';
import { failurePause } from '../timing/failure-pause.js';
import type { MessageFlow, TransferReport } from '../store/message-flow.js';

export interface TransferSchedulerOptions {
  readonly queue: string;
  readonly store: MessageFlow;
  readonly clock: Clock;
  readonly events: Events;
  /** Tells this scheduler from those of other processes; no blanks. */
  readonly id: string;
  /** The longest sleep, ms. */
  readonly checkInterval: number;
  /** For jitter, 0–1. */
  readonly random?: () => number;
}

/** A batch of the transfer script, small enough to keep other clients of the server waiting for milliseconds only. */
const BATCH = 1000;

/** How long after the due time a standby fires, so that the eager scheduler has done the work by then; ±25 %. */
const STANDBY_GRACE = 1000;

/** While ready messages wait, a look every second replaces lost tokens, and finds the leases of those claimed meanwhile. */
const READY_CHECK = 1000;

/** What a scheduler waits for. */
interface Expectation {
  /** The instant by the store's clock, to tell later whether it is still to come. */
  readonly at: number;
  /** The same on the monotonic clock of this process. */
  readonly monotonicAt: number;
}

/**
 * Moves the due messages of one queue, in one process, the moment they fall due.
 *
 * One timer, armed from the store's answer and re-armed by announcements of earlier due times; every (re)started
 * subscription and every `checkInterval` looks anew, so that a lost announcement costs a bounded delay.
 *
 * Every process has such a scheduler, yet a due message must not cost a call of each. Therefore one that was beaten to
 * what it waited for becomes a *standby*, which fires a grace later and thus finds nothing left to do, until the eager one
 * is gone: then it does find something, and is eager itself. There is no leader and no lease that could go wrong.
 */
export class TransferScheduler {
  readonly #options: TransferSchedulerOptions;
  readonly #random: () => number;
  readonly #streak: FailureStreak;
  #unwatch: (() => void) | undefined;
  #cancelTimer: CancelTimer | undefined;
  #expected: Expectation | undefined;
  #running: Promise<void> | undefined;
  #again = false;
  #eager = true;
  #checkAt = Infinity;
  #failures = 0;
  #started = false;

  constructor(options: TransferSchedulerOptions) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
    const { queue, clock, events } = options;
    this.#streak = new FailureStreak(clock, workFailures(events, 'transfer', queue));
  }

  /** Whether this scheduler fires at the due time, rather than a grace later. */
  get isEager(): boolean {
    return this.#eager;
  }

  start(): void {
    this.#started = true;
    this.#unwatch = this.#options.store.watchDue({
      onEarlierDue: ({ dueAt, dueIn }) => {
        this.#expectEarlier({ at: dueAt, monotonicAt: this.#options.clock.monotonic() + dueIn });
      },
      onListening: () => void this.#wake(),
    });
    void this.#wake();
  }

  /** Ends after a transfer that is under way. */
  async stop(): Promise<void> {
    this.#started = false;
    this.#unwatch?.();
    this.#cancelTimer?.();
    await this.#running;
  }

  /**
   * Moves all that is due now, in batches, and learns what to wait for next.
   *
   * @returns the report of the last batch
   * @throws what the store throws
   */
  async runOnce(): Promise<TransferReport> {
    const { store, clock, id } = this.#options;
    for (;;) {
      const awaited = this.#expected;
      // From here on it holds what is announced while the call is under way.
      this.#expected = undefined;
      const sentAt = clock.monotonic();
      const report = await store.transfer({ scheduler: id, limit: BATCH });
      this.#tell(report);
      this.#chooseRole(report, awaited);
      if (report.nextAt !== null && report.nextIn !== null) {
        // The store read its clock somewhere between; if that was earlier than half-way, this fires late by the difference, else
        // early, finds nothing, and is told anew.
        const readAt = (sentAt + clock.monotonic()) / 2;
        this.#expectEarlier({ at: report.nextAt, monotonicAt: readAt + report.nextIn });
      }
      if (!report.more) return report;
    }
  }

  #tell({ moved, recovered, buried, dropped }: TransferReport): void {
    const { events, queue } = this.#options;
    if (moved > 0 && events.has('transferred')) events.emit('transferred', { queue, count: moved });
    if (recovered + buried > 0) events.emit('takenBack', { queue, recovered, buried });
    if (dropped > 0) events.emit('dropped', { queue, count: dropped });
  }

  /** Runs until nothing is due, unless a run is under way: then that one goes once more. */
  #wake(): Promise<void> {
    if (!this.#started) return Promise.resolve();
    this.#again = true;
    return (this.#running ??= this.#runUntilIdle());
  }

  async #runUntilIdle(): Promise<void> {
    const { clock, checkInterval } = this.#options;
    let nextCheck = checkInterval;
    while (this.#again && this.#started) {
      this.#again = false;
      try {
        const { ready } = await this.runOnce();
        this.#failures = 0;
        this.#streak.worked();
        nextCheck = ready > 0 ? Math.min(READY_CHECK, checkInterval) : checkInterval;
      } catch (error) {
        nextCheck = this.#pauseAfter(error);
      }
    }
    // In the same step as the look at #again, or a wake in between would be lost.
    this.#running = undefined;
    this.#checkAt = clock.monotonic() + nextCheck;
    this.#arm();
  }

  #pauseAfter(error: unknown): number {
    // The retry asks for everything anew, due times included.
    this.#expected = undefined;
    if (this.#started) this.#streak.callFailed(error);
    return failurePause(++this.#failures, this.#random);
  }

  #arm(): void {
    this.#cancelTimer?.();
    if (!this.#started) return;
    const grace = this.#eager ? 0 : STANDBY_GRACE * (0.75 + this.#random() / 2);
    const dueAt = this.#expected ? this.#expected.monotonicAt + grace : Infinity;
    const delay = Math.min(dueAt, this.#checkAt) - this.#options.clock.monotonic();
    this.#cancelTimer = this.#options.clock.schedulePunctually(() => void this.#wake(), Math.max(0, delay));
  }

  #expectEarlier(expected: Expectation): void {
    if (this.#expected && this.#expected.monotonicAt <= expected.monotonicAt) return;
    this.#expected = expected;
    // A run under way arms the timer when it ends.
    if (!this.#running) this.#arm();
  }

  /**
   * Found something: eager. Beaten: standby. Beaten means that another moved messages at or after the instant that was
   * waited for; whoever fired a hair early, or waited for a message that was cancelled, has lost to nobody.
   */
  #chooseRole({ moved, recovered, buried, lastMove }: TransferReport, awaited: Expectation | undefined): void {
    if (moved + recovered + buried > 0) this.#eager = true;
    else if (awaited && lastMove && lastMove.scheduler !== this.#options.id && lastMove.at >= awaited.at) {
      this.#eager = false;
    }
  }
}
