import type { Rate } from '../message-store.js';

/** Remembers until when a consumer is waiting for a queue's rate to allow more, so that only one waits. */
export class ClaimRate {
  #awaited = -Infinity;

  /** @param claims - the claims that have used the rate; messages with and without groups share it */
  constructor(readonly claims = new ClaimWindow()) {}

  /** True if a consumer will claim once the rate allows more. */
  isAwaited(now: number): boolean {
    return now < this.#awaited;
  }

  /** Returns how many messages may be claimed now. If there are some, nobody needs to wait, such as for a rate that was raised meanwhile. */
  room(rate: Rate, now: number): number {
    const room = this.claims.room(rate, now);
    if (room > 0) this.#awaited = -Infinity;
    return room;
  }

  /** Notes that the caller waits for the rate. @returns for how many ms it waits; undefined if another consumer already waits */
  await(rate: Rate, now: number): number | undefined {
    const until = this.claims.opensAt(rate, now);
    // Whoever waits for longer does so for a rate that has changed.
    if (this.isAwaited(now) && this.#awaited <= until) return undefined;
    this.#awaited = until;
    return until - now;
  }
}

/** The claims that have used the rate of a queue, or of a group. */
export class ClaimWindow {
  /** The claims that still count, oldest first. */
  readonly #claims: { readonly at: number; readonly count: number }[] = [];
  #claimed = 0;

  /** Returns when a spent rate next allows a claim, if something is claimed now. */
  opensAt({ per }: Rate, now: number): number {
    return (this.#claims[0]?.at ?? now) + per;
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
