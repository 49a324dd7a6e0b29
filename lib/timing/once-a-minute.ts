import type { Clock } from './clock.js';

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
