import type { Scenario } from '../applications/scenario.js';

/** The claims that a rate counts. */
export class RateUse {
  /** The times at which claims were made, by the clock of the server, ms since 1970. */
  #claims: number[] = [];

  constructor(private readonly rate: Scenario['rate']) {}

  /** The claims that count now. */
  get claims(): readonly number[] {
    return this.#claims;
  }

  set claims(claims: readonly number[]) {
    this.#claims = [...claims];
  }

  /** Counts a claim. @param max - what the rate may be. @returns whether it allows the claim */
  take(now: number, max: number): boolean {
    const { per } = this.rate;
    const expired = this.#claims.findIndex((at) => at > now - per);
    this.#claims = expired < 0 ? [] : this.#claims.slice(expired);
    this.#claims.push(now);
    return this.#claims.length <= max;
  }
}
