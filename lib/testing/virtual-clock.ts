import { MAX_TIMER_DELAY, type CancelTimer, type Clock } from '../timing/clock.js';
import { clearTimeout, setTimeout } from './real-time.js';

interface Timer {
  readonly at: number;
  readonly task: () => void;
}

/** A clock that stands still until it is moved. */
export class VirtualClock implements Clock {
  readonly #timers = new Set<Timer>();
  readonly #startedAt: number;
  #monotonic = 0;
  #released: { readonly maxWait: number } | undefined;

  /** @param startAt - milliseconds since the epoch */
  constructor(startAt: number) {
    this.#startedAt = startAt;
  }

  get pendingTimers(): number {
    return this.#timers.size;
  }

  /** Milliseconds until the earliest timer fires; Infinity if none is armed. */
  get nextTimerIn(): number {
    return Math.max(0, (this.#earliest()?.at ?? Infinity) - this.#monotonic);
  }

  monotonic(): number {
    return this.#monotonic;
  }

  wall(): number {
    return this.#startedAt + this.#monotonic;
  }

  schedule(task: () => void, delay: number): CancelTimer {
    if (!(delay <= MAX_TIMER_DELAY)) {
      throw new RangeError(`${delay} ms are more than one timer can wait`);
    }
    return this.#released ? afterRealTime(task, Math.min(delay, this.#released.maxWait)) : this.#arm(task, delay);
  }

  /** Same as {@link schedule}, because a virtual clock's timers are never a fraction of a millisecond late. */
  schedulePunctually(task: () => void, delay: number): CancelTimer {
    return this.schedule(task, delay);
  }

  /** Moves the time forward. Timers fire only when {@link fireNext} is called. */
  moveBy(ms: number): void {
    this.#monotonic += ms;
  }

  /** Fires the earliest due timer; returns false if there is none. After a long move, timers fire late, as after a blocked event loop. */
  fireNext(): boolean {
    const timer = this.#earliest();
    if (timer === undefined || timer.at > this.#monotonic) return false;
    this.#timers.delete(timer);
    timer.task();
    return true;
  }

  /** Lets timers fire in real time, each after at most `maxWait` ms, because nothing advances this clock any more. */
  release(maxWait: number): void {
    this.#released = { maxWait };
  }

  #arm(task: () => void, delay: number): CancelTimer {
    const timer: Timer = { at: this.#monotonic + Math.max(0, Math.ceil(delay)), task };
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
    };
  }

  /** Returns the earliest timer. Timers for the same time fire in the order in which they were scheduled. */
  #earliest(): Timer | undefined {
    let earliest: Timer | undefined;
    for (const timer of this.#timers) {
      if (earliest === undefined || timer.at < earliest.at) earliest = timer;
    }
    return earliest;
  }
}

function afterRealTime(task: () => void, delay: number): CancelTimer {
  const timer = setTimeout(task, delay);
  return () => clearTimeout(timer);
}
