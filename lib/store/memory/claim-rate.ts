import type { Rate } from '../message-store.js';
import { ClaimWindow } from './claim-window.js';

/** Who waits for more of a queue's rate. */
export class ClaimRate {
  /** When the waiting consumer will claim again. */
  #awaited = -Infinity;

  /** @param claims - what claims have taken of it; messages with groups and those without share it */
  constructor(readonly claims = new ClaimWindow()) {}

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
    this.#awaited = this.claims.oldest + per;
    return this.#awaited - now;
  }
}
