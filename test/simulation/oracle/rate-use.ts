import type { Rate } from '../../../lib/store/message-store.js';

/** The claims that the rate of a queue, or of a group, counts. */
export class RateUse {
  /** The times at which claims were made, by the clock of the server, ms since 1970: those that count, and as many as the rate allows. */
  #claims: number[] = [];

  constructor(private readonly rate: Rate) {}

  get claims(): readonly number[] {
    return this.#claims;
  }

  set claims(claims: readonly number[]) {
    this.#claims = [...claims];
  }

  /** When the next claim is, or was, possible, by the clock of the server, ms since 1970. @param max - what the rate may be */
  opensAt(max = this.rate.max): number {
    const last = this.#claims.at(-max);
    return last === undefined ? -Infinity : last + this.rate.per;
  }

  /** Counts a claim. @param max - what the rate may be. @returns whether it allows the claim */
  take(now: number, max = this.rate.max): boolean {
    const isAllowed = this.opensAt(max) <= now;
    const counting = this.#claims.filter((at) => at > now - this.rate.per).length;
    this.#claims = this.#claims.slice(-Math.max(counting, max - 1, 1));
    this.#claims.push(now);
    return isAllowed;
  }
}
