import type { Rate } from '../message-store.js';

/** The claims that have taken of a queue's rate. */
export class ClaimWindow {
  /** The claims that still count, oldest first. */
  readonly #claims: { readonly at: number; readonly count: number }[] = [];
  #claimed = 0;

  get oldest(): number {
    return this.#claims[0]!.at;
  }

  room({ max, per }: Rate, now: number): number {
    while (this.#claims[0] && this.#claims[0].at + per <= now) this.#claimed -= this.#claims.shift()!.count;
    return Math.max(0, max - this.#claimed);
  }

  count(count: number, now: number): void {
    if (count === 0) return;
    this.#claims.push({ at: now, count });
    this.#claimed += count;
  }
}
