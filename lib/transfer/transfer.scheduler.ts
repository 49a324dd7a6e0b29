import type { Events } from '../events/events.js';
import { FailureStreak, workFailures } from '../events/failure-streak.js';
import type { CancelTimer, Clock } from '../timing/clock.js';
import { failurePause } from '../timing/failure-pause.js';
import { LEASE_EXPIRED, type MessageFlow, type TransferReport } from '../store/message-flow.js';

export interface TransferSchedulerOptions {
  readonly queue: string;
  readonly store: MessageFlow;
  readonly clock: Clock;
  readonly events: Events;
  /** Distinguishes this scheduler from those of other processes; without spaces. */
  readonly id: string;
  /** The longest sleep, ms. */
  readonly checkInterval: number;
  /** For jitter, 0–1. */
  readonly random?: () => number;
  /** Called when messages were ready before a transfer, and are ready still. */
  readonly onStillReady?: () => void;
}

/** How many messages one call moves: small enough that other clients of the server wait only for milliseconds. */
const BATCH = 1000;

/** How long after the due time a standby fires, ms; ±25 %. By then the eager scheduler has done the work. */
const STANDBY_GRACE = 1000;

/**
 * How often to run while ready messages wait, ms: each run replaces a lost token, and learns of the leases of messages claimed
 * meanwhile.
 */
const READY_CHECK = 1000;

/** The instant that a scheduler waits for. */
interface Expectation {
  /** By the store's clock, to compare with the last move of another scheduler. */
  readonly at: number;
  /** On the monotonic clock of this process. */
  readonly monotonicAt: number;
}

/**
 * Moves the messages of one queue, in one process, at the moment they fall due.
 *
 * It has one timer, armed from the store's answer and re-armed by announcements of earlier due times. It also asks the store
 * again whenever the subscription (re)starts and at least every `checkInterval`, so a lost announcement costs a bounded delay.
 *
 * Every process has such a scheduler, yet a due message must not cost one call from each of them. So a scheduler that was
 * beaten to what it waited for becomes a *standby*: it fires a grace period later and normally finds nothing left to do. Once
 * the eager scheduler is gone, the standby does find something and becomes eager itself. There is no leader, and no lease on
 * leadership that could go wrong.
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
  /** Messages that are ready, as the last report has it. */
  #ready = 0;
  #checkAt = Infinity;
  #failures = 0;
  #started = false;

  constructor(options: TransferSchedulerOptions) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
    const { queue, clock, events } = options;
    this.#streak = new FailureStreak(clock, workFailures(events, 'transfer', queue));
  }

  /** Whether this scheduler fires at the due time, rather than a grace period later. */
  get isEager(): boolean {
    return this.#eager;
  }

  /** How long there is nothing to do, as far as is known, ms: until a due time or the end of a lease. 0 while messages are ready. */
  get quietFor(): number {
    if (this.#running || this.#failures > 0 || this.#ready > 0) return 0;
    return this.#expected ? Math.max(0, this.#expected.monotonicAt - this.#options.clock.monotonic()) : Infinity;
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

  /** Stops, and waits for a transfer that is under way. */
  async stop(): Promise<void> {
    this.#started = false;
    this.#unwatch?.();
    this.#cancelTimer?.();
    await this.#running;
  }

  /**
   * Moves everything that is due now, in batches, and learns what to wait for next.
   *
   * @returns the report of the last batch
   * @throws what the store throws
   */
  async runOnce(): Promise<TransferReport> {
    const { store, clock, id } = this.#options;
    for (;;) {
      const awaited = this.#expected;
      // From here on it collects what is announced while the call is under way.
      this.#expected = undefined;
      const sentAt = clock.monotonic();
      const report = await store.transfer({ scheduler: id, limit: BATCH });
      this.#tell(report);
      this.#chooseRole(report, awaited);
      if (report.nextAt !== null && report.nextIn !== null) {
        // The store read its clock some time during the call. If that was before the midpoint, the timer fires late by the
        // difference; if after, it fires early, finds nothing, and gets a new answer.
        const readAt = (sentAt + clock.monotonic()) / 2;
        this.#expectEarlier({ at: report.nextAt, monotonicAt: readAt + report.nextIn });
      }
      if (!report.more) return report;
    }
  }

  #tell({ moved, recovered, buried, dropped }: TransferReport): void {
    const { events, queue } = this.#options;
    if (moved > 0 && events.has('transferred')) events.emit('transferred', { queue, count: moved });
    if (recovered + buried.length > 0) events.emit('taken-back', { queue, recovered, buried: buried.length });
    for (const id of buried) events.emit('dead', { queue, id, by: 'lease', failure: LEASE_EXPIRED });
    if (dropped > 0) events.emit('dropped', { queue, count: dropped });
  }

  /** Runs until nothing is due. If a run is under way, that one repeats once more. */
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
        const { ready, moved, recovered } = await this.runOnce();
        this.#ready = ready;
        if (ready > moved + recovered) this.#options.onStillReady?.();
        this.#failures = 0;
        this.#streak.worked();
        nextCheck = this.#ready > 0 ? Math.min(READY_CHECK, checkInterval) : checkInterval;
      } catch (error) {
        nextCheck = this.#pauseAfter(error);
      }
    }
    // Must happen in the same step as the check of #again: a wake in between would be lost.
    this.#running = undefined;
    this.#checkAt = clock.monotonic() + nextCheck;
    this.#arm();
  }

  #pauseAfter(error: unknown): number {
    // The retry asks for everything again, including due times.
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
   * A scheduler that found something is eager; one that was beaten becomes a standby. Beaten means that another scheduler moved
   * messages at or after the instant that this one waited for. One that fired slightly early, or waited for a message that was
   * cancelled, was not beaten.
   */
  #chooseRole({ moved, recovered, buried, lastMove }: TransferReport, awaited: Expectation | undefined): void {
    if (moved + recovered + buried.length > 0) this.#eager = true;
    else if (awaited && lastMove && lastMove.scheduler !== this.#options.id && lastMove.at >= awaited.at) {
      this.#eager = false;
    }
  }
}
