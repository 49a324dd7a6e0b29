import type { CancelTimer, Clock } from './clock.js';

/** Pauses that can be ended early. */
export class Pauses {
  readonly #ends = new Set<() => void>();

  constructor(private readonly clock: Clock) {}

  /** Resolves after `length` ms, or earlier if {@link end} is called. */
  take(length: number): Promise<void> {
    return this.#take((end) => this.clock.schedule(end, length));
  }

  /** Like {@link take}, but accurate to the millisecond. */
  takePunctually(length: number): Promise<void> {
    return this.#take((end) => this.clock.schedulePunctually(end, length));
  }

  /** True if a pause is in progress. */
  get areTaken(): boolean {
    return this.#ends.size > 0;
  }

  end(): void {
    for (const end of [...this.#ends]) end();
  }

  #take(schedule: (end: () => void) => CancelTimer): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        cancelTimer();
        this.#ends.delete(end);
        resolve();
      };
      const cancelTimer = schedule(end);
      this.#ends.add(end);
    });
  }
}

/** Resolves after `length` ms. */
export function sleep(clock: Pick<Clock, 'schedule'>, length: number): Promise<void> {
  return new Promise((resolve) => void clock.schedule(resolve, length));
}

/** Waits until a promise is fulfilled, for at most `longest` ms. The promise must not reject. */
export async function atMost(clock: Clock, longest: number, promise: Promise<unknown>): Promise<void> {
  await new Promise<void>((resolve) => {
    const cancelTimer = clock.schedule(resolve, longest);
    void promise.then(cancelTimer).then(resolve);
  });
}

const FIRST_PAUSE = 100;
const MAX_PAUSE = 5000;

/** Returns the pause, ms, after the n-th consecutive failure (from 1): 100, doubling up to 5000, shortened at random by up to a quarter. */
export function failurePause(failures: number, random: () => number = Math.random): number {
  const pause = Math.min(FIRST_PAUSE * 2 ** (failures - 1), MAX_PAUSE);
  return pause * (1 - random() / 4);
}

const MINUTE = 60_000;

/** Limits how often a lasting condition is reported: at once, then once a minute. */
export class OnceAMinute {
  #dueAt = -Infinity;

  constructor(private readonly clock: Clock) {}

  /** True if the last report was at least a minute ago, or there has been none. */
  get isDue(): boolean {
    return this.clock.monotonic() >= this.#dueAt;
  }

  /** Records that the condition has just been reported. */
  reported(): void {
    this.#dueAt = this.clock.monotonic() + MINUTE;
  }
}

/** Counts what may happen very often. Reports the number since the last report: at once, then at most once a minute. */
export class CountOnceAMinute {
  readonly #limit: OnceAMinute;
  #count = 0;

  constructor(
    clock: Clock,
    private readonly report: (count: number) => void,
  ) {
    this.#limit = new OnceAMinute(clock);
  }

  add(count: number): void {
    this.#count += count;
    if (!this.#limit.isDue) return;
    this.report(this.#count);
    this.#limit.reported();
    this.#count = 0;
  }
}
