import type { Rate } from '../message-store.js';

/** What claims have taken of a queue's rate, and who waits for more. */
export class ClaimRate {
  /** The claims that still count, oldest first. */
  readonly #claims: { readonly at: number; readonly count: number }[] = [];
  #claimed = 0;
  /** When the waiting consumer will claim again. */
  #awaited = -Infinity;

  /** How many more messages may be claimed now. */
  room({ max, per }: Rate, now: number): number {
    while (this.#claims[0] && this.#claims[0].at + per <= now) this.#claimed -= this.#claims.shift()!.count;
    return Math.max(0, max - this.#claimed);
  }

  count(count: number, now: number): void {
    if (count === 0) return;
    this.#claims.push({ at: now, count });
    this.#claimed += count;
  }

  /** Whether a consumer is going to claim once the rate allows more. */
  isAwaited(now: number): boolean {
    return now < this.#awaited;
  }

  /**
   * Makes the caller wait for the rate, which is spent.
   *
   * @returns in how many milliseconds it has to claim again; undefined if another consumer is going to
   */
  await({ per }: Rate, now: number): number | undefined {
    if (this.isAwaited(now)) return undefined;
    this.#awaited = this.#claims[0]!.at + per;
    return this.#awaited - now;
  }
}
