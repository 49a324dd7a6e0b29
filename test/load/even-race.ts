/** ms by which one race moves the next ones. */
const STEP = 0.05;

/**
 * Keeps the two sides of a race about even on a machine of any speed: the one that has won starts a little later in the next ones.
 */
export class EvenRace {
  #lead = 0;

  /** The time that the caller waits beyond its own wait, ms. */
  get callerWaits(): number {
    return Math.max(0, this.#lead);
  }

  /** The time that the handler waits beyond its own wait, ms. */
  get handlerWaits(): number {
    return Math.max(0, -this.#lead);
  }

  wonBy(side: 'caller' | 'handler'): void {
    this.#lead += side === 'caller' ? STEP : -STEP;
  }
}
