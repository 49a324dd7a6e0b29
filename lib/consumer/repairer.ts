import type { Events } from '../events/events.js';
import { FailureStreak, workFailures } from '../events/failure-streak.js';
import type { CancelTimer, Clock } from '../timing/clock.js';
import type { AdminStore } from '../store/admin-store.js';

/** The interval between checks of a queue, ms; ±25 %, so that processes check at different times. */
const INTERVAL = 5 * 60_000;

/**
 * Finds a queue's orphaned messages, which are stored but in no state, at startup and then every few minutes. Makes them ready, or delayed
 * if they are not due. Logs each find, because the only possible cause is deleted or changed keys.
 */
export class Repairer {
  readonly #random: () => number;
  readonly #streak: FailureStreak;
  #cancelTimer: CancelTimer | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(
    private readonly options: {
      readonly queue: string;
      readonly store: Pick<AdminStore, 'repair'>;
      readonly clock: Clock;
      readonly events: Events;
      /** The length of a lease, ms. */
      readonly lease: number;
      /** Returns a number from 0 to 1, for jitter. */
      readonly random?: () => number;
      /** Called after each check, for other periodic checks. Must not throw. */
      readonly onChecked?: (() => void) | undefined;
    },
  ) {
    this.#random = options.random ?? Math.random;
    const { queue, clock, events } = options;
    this.#streak = new FailureStreak(clock, workFailures(events, 'repair', queue));
  }

  start(): void {
    this.#running = this.#check();
  }

  /** Resolves when no check is in progress. */
  get checked(): Promise<void> {
    return this.#running ?? Promise.resolve();
  }

  /** Stops, and waits for any check in progress. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelTimer?.();
    await this.#running;
  }

  /** Checks the queue once, and searches it if its counts do not add up. Returns the number of orphaned messages. */
  async runOnce(): Promise<number> {
    const { store, events, queue, lease } = this.options;
    const ready: string[] = [];
    const delayed: string[] = [];
    let cursor: string | null | undefined;
    do {
      const report = await store.repair(lease, cursor ?? undefined);
      ready.push(...report.ready);
      delayed.push(...report.delayed);
      cursor = report.cursor;
    } while (cursor !== null && !this.#stopped);
    const ids = [...ready, ...delayed];
    if (ids.length > 0) events.emit('repaired', { queue, ids, delayed });
    return ids.length;
  }

  async #check(): Promise<void> {
    const { clock } = this.options;
    try {
      await this.runOnce();
      this.#streak.worked();
    } catch (error) {
      if (!this.#stopped) this.#streak.callFailed(error);
    }
    if (this.#stopped) return;
    this.options.onChecked?.();
    const interval = INTERVAL * (0.75 + this.#random() / 2);
    this.#cancelTimer = clock.schedule(() => this.start(), interval);
  }
}
