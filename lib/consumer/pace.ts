/** How long it should take to start the handlers of one claim, ms. */
const TARGET = 100;

/**
 * Measures how quickly a process starts handlers, so that it claims no more messages than it can start soon: handlers that
 * work synchronously keep the others waiting, while another process may be idle.
 */
export class Pace {
  #limit = Infinity;
  #isQuick = true;

  /** The maximum number of messages to claim: at least 1, and Infinity until the handlers of a claim were slow to start. */
  get limit(): number {
    return this.#limit;
  }

  /** Whether the last handlers were started so quickly that the next claim need not wait for them. */
  get isQuick(): boolean {
    return this.#isQuick;
  }

  /** Takes into account that `count` handlers of a claim were started in `took` ms. */
  measure(count: number, took: number): void {
    const inTime = Math.floor((count * TARGET) / took);
    this.#isQuick = took <= TARGET;
    // The limit falls at once; it rises to the measured number, but at most doubles.
    this.#limit = this.#isQuick ? Math.max(this.#limit, Math.min(this.#limit * 2, inTime)) : Math.max(1, inTime);
  }
}
