/** How long it should take to start the handlers of one claim, ms. */
const TARGET = 100;

/**
 * Measures how many handlers a process starts in its time, so that it claims no more: handlers that work synchronously keep
 * others waiting, and another process may be idle.
 */
export class Pace {
  #limit = Infinity;
  #isQuick = true;

  /** The most messages to claim; at least 1, and Infinity until a claim took too long. */
  get limit(): number {
    return this.#limit;
  }

  /** Whether handlers were started so quickly that the next claim need not wait for them. */
  get isQuick(): boolean {
    return this.#isQuick;
  }

  /** The handlers of a claim were started, `count` of them in `took` ms. */
  measure(count: number, took: number): void {
    const inTime = Math.floor((count * TARGET) / took);
    this.#isQuick = took <= TARGET;
    // Down at once; up by what was seen, at most twice as many.
    this.#limit = this.#isQuick ? Math.max(this.#limit, Math.min(this.#limit * 2, inTime)) : Math.max(1, inTime);
  }
}
