import type { Rate } from '../message-store.js';
import { ClaimWindow } from './claim-window.js';

/** The consumer that waits for more of a queue's rate. */
export class ClaimRate {
  #awaited = -Infinity;

  /** @param claims - what claims have taken of the rate; messages with groups and those without share it */
  constructor(readonly claims = new ClaimWindow()) {}

  /** True if a consumer will claim once the rate allows more. */
  isAwaited(now: number): boolean {
    return now < this.#awaited;
  }

  /** Makes the caller wait for the rate. @returns in how many ms it has to claim again; undefined if another consumer will */
  await({ per }: Rate, now: number): number | undefined {
    if (this.isAwaited(now)) return undefined;
    this.#awaited = this.claims.oldest + per;
    return this.#awaited - now;
  }
}
