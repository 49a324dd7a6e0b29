import type { Events } from '../events/events.js';
import { FailureStreak, workFailures } from '../events/failure-streak.js';
import { type CancelTimer, type Clock, readingTime, type RemoteClock } from '../timing/clock.js';
import { CoalescedTask } from '../timing/coalesced-task.js';
import { failurePause } from '../timing/pauses.js';
import {
  LEASE_EXPIRED,
  type AnnouncedTransfer,
  type Announcer,
  type Claim,
  type ConsumerStore,
  type DueListener,
  type TransferReport,
} from '../store/consumer-store.js';
import type { ConsumerLoop } from './consumer-loop.js';

/** The maximum number of messages per call, so that the server's other clients wait only milliseconds. */
const BATCH = 1000;

/** How long after the due time a standby fires, ms; ±25 %. By then it has received the eager scheduler's announcement. */
const STANDBY_GRACE = 1000;

/** The minimum interval between announcements, ms. Shorter than any grace period, so transfers are announced before standbys fire. */
const ANNOUNCE_INTERVAL = 500;

/** The interval between runs while messages are ready, ms. Each run replaces a lost wake-up signal and learns of new leases. */
const READY_CHECK = 1000;

/** How far this process's clock and the store's may disagree about a time, ms. */
const CLOCK_TOLERANCE = 100;

interface Expectation {
  /** The time by this process's monotonic clock. */
  readonly at: number;
  /** The time by the store's clock. */
  readonly dueAt: number;
}

/**
 * Transfers a queue's messages at the moment they fall due. Each process has one such scheduler per queue.
 *
 * It has a single timer, set by the store's answer and reset by announcements of earlier due times. It also asks the store whenever the
 * subscription (re)starts and at least every `checkInterval`, so a lost announcement costs a bounded delay.
 *
 * To save each process a call for every due message, schedulers announce their transfers, along with the next due time. A scheduler becomes
 * a *standby* when it learns that another one was the last to move something. A standby waits for the same times, but fires a grace period
 * later, and normally knows by then that nothing is left to do. If the eager scheduler is gone, a standby finds something and becomes eager
 * itself. There is no leader, and no lease on leadership that could go wrong.
 */
export class TransferScheduler implements DueListener {
  readonly #streak: FailureStreak;
  /** Transfers until nothing is due. Yields the maximum time until the next transfer, ms. */
  readonly #transfers = new CoalescedTask(
    () => this.#transfer(),
    (nextCheck) => this.#waitAtMost(nextCheck),
  );
  #unwatch: (() => void) | undefined;
  #cancelTimer: CancelTimer | undefined;
  #expected: Expectation | undefined;
  #eager = true;
  /** The number of ready messages in the last report. */
  #ready = 0;
  #checkAt = Infinity;
  /** When this scheduler last asked the store, on the monotonic clock. */
  #lookedAt = -Infinity;
  /** When a transfer was last announced, on the monotonic clock. */
  #announcedAt = -Infinity;
  #hasUnannounced = false;
  /** When this scheduler last moved something, by the store's clock. */
  #movedAt: number | null = null;
  #failures = 0;
  #started = false;

  constructor(
    private readonly options: {
      readonly queue: string;
      readonly store: ConsumerStore;
      readonly clock: Clock;
      readonly events: Events;
      /** Distinguishes this scheduler from those of other processes; contains no spaces. */
      readonly id: string;
      /** The maximum time between two calls to the store, ms. */
      readonly checkInterval: number;
      /** Also learns from the claims of `consumer`. */
      readonly storeClock: RemoteClock;
      /** Returns a number from 0 to 1, for jitter. */
      readonly random: () => number;
      /** The loop that claims messages for this process's free slots. */
      readonly consumer: Pick<ConsumerLoop, 'transferAndClaim' | 'wake' | 'abort' | 'limitsChanged'>;
    },
  ) {
    const { queue, clock, events } = options;
    this.#streak = new FailureStreak(clock, workFailures(events, 'transfer', queue));
  }

  /** True if this scheduler fires at the due time, rather than a grace period later. */
  get isEager(): boolean {
    return this.#eager;
  }

  /** Milliseconds until the next known due time or end of a lease; 0 while messages are ready. */
  get quietFor(): number {
    if (this.#transfers.isRunning || this.#failures > 0 || this.#ready > 0) return 0;
    return this.#expected ? Math.max(0, this.#expected.at - this.options.clock.monotonic()) : Infinity;
  }

  start(): void {
    this.#started = true;
    this.#unwatch = this.options.store.watchDue(this);
    this.#wake();
  }

  /** Stops, and waits for any transfer in progress. Still passes on aborts, because handlers may carry on. */
  async stop(): Promise<void> {
    this.#started = false;
    this.#cancelTimer?.();
    await this.#transfers.stop();
  }

  onEarlierDue({ dueAt, dueIn }: { dueAt: number; dueIn: number }): void {
    this.#expectEarlier({ at: this.#timeOf(dueAt, dueIn), dueAt });
  }

  onAbort(claim: Claim): void {
    this.options.consumer.abort(claim);
  }

  onLimits(): void {
    this.options.consumer.limitsChanged();
  }

  onListening(): void {
    this.#wake();
  }

  /** Ends the subscription. */
  leave(): void {
    this.#unwatch?.();
  }

  /** Transfers everything due now, in batches, and learns what to wait for. Returns the last report. Throws whatever the store throws. */
  async runOnce(): Promise<TransferReport> {
    const { store, clock, storeClock, consumer } = this.options;
    // A standby does not claim, because it would soon compete with the eager scheduler. After a failure, the simpler call comes first.
    let mayClaim = this.#eager && this.#failures === 0;
    for (let taken = 0; ;) {
      const awaited = this.#expected;
      // Reset to collect announcements that arrive during the call.
      this.#expected = undefined;
      const sentAt = clock.monotonic();
      const announcer = this.#announcerAt(sentAt, awaited);
      const claimed = mayClaim ? await consumer.transferAndClaim(announcer, taken) : undefined;
      mayClaim = claimed !== undefined;
      const report = claimed ?? (await store.transfer({ announcer, limit: BATCH }));
      taken += report.moved;
      if (announcer) this.#announcedAt = sentAt;
      const hasMoved = report.moved + report.recovered + report.deadLettered.length > 0;
      this.#hasUnannounced = !announcer && (this.#hasUnannounced || hasMoved);
      if (hasMoved) {
        this.#movedAt = report.at;
        this.#eager = true;
      } else if (this.#movedAt !== null && this.#movedAt > report.at) {
        // The store's clock has been set back. Announcements with earlier times are no proof of that, because they may merely be late.
        this.#movedAt = null;
      }
      this.#emit(report);
      const roundTrip = { sentAt, receivedAt: clock.monotonic() };
      storeClock.learn(report.at, roundTrip);
      if (report.nextIn !== null) {
        // If the timer fires too early, the transfer finds nothing, but its answer sets a new timer.
        const readAt = readingTime(roundTrip);
        this.#expectEarlier({ at: readAt + report.nextIn, dueAt: report.at + report.nextIn });
      }
      if (!report.more) return report;
    }
  }

  /** Returns the announcer of the next transfer; undefined if other schedulers need not know, or have just received an announcement. */
  #announcerAt(now: number, awaited: Expectation | undefined): Announcer | undefined {
    const isAwaited = awaited !== undefined || this.#hasUnannounced || this.#ready > 0;
    if (!isAwaited || now < this.#announcedAt + ANNOUNCE_INTERVAL) return undefined;
    // If a standby announced its last move, a new process's scheduler would become a standby, too, and there might be no eager one.
    return { scheduler: this.options.id, movedAt: this.#eager ? this.#movedAt : null };
  }

  /**
   * Learns from another scheduler's transfer: this one may become a standby, and a standby skips what was due by then. It still asks the
   * store every `checkInterval`, because announcements may be wrong.
   */
  onTransfer({ scheduler, at, movedAt, ready, nextIn }: AnnouncedTransfer): void {
    const { id, clock, checkInterval } = this.options;
    // A `movedAt` later than `at` dates from before the store's clock was set back. Comparing with it could leave no eager scheduler.
    const isLatest = movedAt !== null && movedAt <= at && (this.#movedAt === null || movedAt > this.#movedAt);
    if (scheduler === id) {
      if (!isLatest) return;
      // The answer of this transfer was lost. The others have become standbys, so this scheduler must be the eager one.
      this.#movedAt = movedAt;
      const wasStandby = !this.#eager;
      this.#eager = true;
      // The call was given up, and arrived late. The timer still includes a grace period.
      if (wasStandby && !this.#transfers.isRunning && this.#failures === 0) this.#wake();
      return;
    }
    const now = clock.monotonic();
    if (!this.#eager && this.#isPast(at, now)) this.#expected = undefined;
    if (isLatest) this.#eager = false;
    if (nextIn !== null) this.#expectEarlier({ at: this.#timeOf(at + nextIn, nextIn), dueAt: at + nextIn });
    if (this.#transfers.isRunning || this.#failures > 0) return;
    this.#ready = ready;
    // While messages are ready, the other scheduler soon announces when their leases end. If it does not, this one asks the store.
    const checkAt = ready > 0 ? now + READY_CHECK + this.#newGrace() : Infinity;
    this.#checkAt = Math.min(checkAt, this.#lookedAt + checkInterval);
    this.#arm(now);
  }

  /**
   * Returns when an announced time comes, on the monotonic clock. While handlers block the event loop, announcements wait, so their durations
   * would count from too late.
   */
  #timeOf(dueAt: number, dueIn: number): number {
    const { clock, storeClock } = this.options;
    const now = clock.monotonic();
    return Math.min(now + dueIn, storeClock.timeOf(dueAt, now));
  }

  /** True if the expected time has passed by the store's clock, and roughly by this process's clock. */
  #isPast(storeNow: number, now: number): boolean {
    return (
      this.#expected !== undefined && this.#expected.dueAt <= storeNow && this.#expected.at <= now + CLOCK_TOLERANCE
    );
  }

  #emit({ moved, recovered, deadLettered, dropped }: TransferReport): void {
    const { events, queue } = this.options;
    if (moved > 0 && events.has('transferred')) events.emit('transferred', { queue, count: moved });
    if (recovered + deadLettered.length > 0)
      events.emit('leases-expired', { queue, recovered, deadLettered: deadLettered.length });
    for (const id of deadLettered) events.emit('dead', { queue, id, by: 'lease', failure: LEASE_EXPIRED });
    if (dropped > 0) events.emit('dead-letters-dropped', { queue, count: dropped });
  }

  #wake(): void {
    if (this.#started) this.#transfers.request();
  }

  async #transfer(): Promise<number> {
    const { checkInterval, consumer, random } = this.options;
    try {
      const { ready, moved, recovered } = await this.runOnce();
      this.#ready = ready;
      // Some of these messages were already ready before this run.
      if (ready > moved + recovered) consumer.wake();
      this.#failures = 0;
      this.#streak.worked();
      return ready > 0 ? Math.min(READY_CHECK, checkInterval) : checkInterval;
    } catch (error) {
      // The retry asks for everything again, including due times.
      this.#expected = undefined;
      if (this.#started) this.#streak.callFailed(error);
      return failurePause(++this.#failures, random);
    }
  }

  /** Sets the timer for the next transfer, which is made after at most this many ms. */
  #waitAtMost(nextCheck: number): void {
    this.#lookedAt = this.options.clock.monotonic();
    this.#checkAt = this.#lookedAt + nextCheck;
    this.#arm(this.#lookedAt);
  }

  #arm(now = this.options.clock.monotonic()): void {
    this.#cancelTimer?.();
    if (!this.#started) return;
    const dueAt = this.#expected ? this.#expected.at + (this.#eager ? 0 : this.#newGrace()) : Infinity;
    const announceAt = this.#hasUnannounced && this.#failures === 0 ? this.#announcedAt + ANNOUNCE_INTERVAL : Infinity;
    const delay = Math.min(dueAt, announceAt, this.#checkAt) - now;
    this.#cancelTimer = this.options.clock.schedulePunctually(() => this.#wake(), Math.max(0, delay));
  }

  #expectEarlier(expected: Expectation): void {
    if (this.#expected && this.#expected.at <= expected.at) return;
    this.#expected = expected;
    // A run in progress sets the timer when it ends.
    if (!this.#transfers.isRunning) this.#arm();
  }

  #newGrace(): number {
    return STANDBY_GRACE * (0.75 + this.options.random() / 2);
  }
}
