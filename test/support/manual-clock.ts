import { LONGEST_TIMER, type CancelTimer, type Clock } from '../../lib/timing/clock.js';

interface Timer {
  readonly at: number;
  readonly task: () => void;
}

/** A clock that stands still until {@link advance} is called. */
export class ManualClock implements Clock {
  readonly #timers = new Set<Timer>();
  #monotonic = 0;
  #wallAtStart: number;

  constructor(wall = Date.UTC(2030, 0, 1)) {
    this.#wallAtStart = wall;
  }

  /** How many timers are armed. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  wall(): number {
    return this.#wallAtStart + this.#monotonic;
  }

  /** As `setTimeout` does: whole milliseconds, one at least, so a task that schedules itself cannot stop the time. */
  schedule(task: () => void, delay: number): CancelTimer {
    if (!(delay <= LONGEST_TIMER)) {
      throw new RangeError(`${delay} ms are more than one timer can wait`);
    }
    const timer: Timer = { at: this.#monotonic + Math.max(1, Math.ceil(delay)), task };
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
    };
  }

  /** Time that stands still has no fractions of a millisecond to be late by. */
  schedulePunctually(task: () => void, delay: number): CancelTimer {
    return this.schedule(task, delay);
  }

  /** Resolves after `ms` on this clock. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.schedule(resolve, ms);
    });
  }

  /**
   * Lets `ms` pass: timers fire in order, each at its own time, and promises settle before, between and after them.
   * `advance(0)` only lets promises settle.
   */
  async advance(ms: number): Promise<void> {
    const end = this.#monotonic + ms;
    await settlePromises();
    for (let timer = this.#earliest(); timer !== undefined && timer.at <= end; timer = this.#earliest()) {
      this.#timers.delete(timer);
      this.#monotonic = Math.max(this.#monotonic, timer.at);
      timer.task();
      await settlePromises();
    }
    this.#monotonic = Math.max(this.#monotonic, end);
  }

  /** Lets `ms` pass as code does that blocks the event loop: what should have fired meanwhile fires late. */
  block(ms: number): void {
    this.#monotonic += ms;
  }

  /** Sets the wall clock forward, or back if negative, as an administrator or a time server does: no timer notices. */
  stepWall(ms: number): void {
    this.#wallAtStart += ms;
  }

  /** Of timers for one instant the first scheduled is the first to fire. */
  #earliest(): Timer | undefined {
    let earliest: Timer | undefined;
    for (const timer of this.#timers) {
      if (earliest === undefined || timer.at < earliest.at) {
        earliest = timer;
      }
    }
    return earliest;
  }
}

/** Immediates run once no microtask is left. */
function settlePromises(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
