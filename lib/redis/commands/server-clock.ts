/** How long an answer about the server's clock stays valid, ms: the clock may be changed, or drift. */
const LONGEST_VALID = 60_000;

/** An estimate of the server's clock from its answers. */
export class ServerClock {
  /** How far the server's clock is ahead of the monotonic clock of this process, at most, ms; undefined if not known. */
  #offset: number | undefined;
  #learntAt = -Infinity;

  /**
   * Learns from an answer of the server.
   *
   * @param serverNow - what the server's clock showed, ms since the epoch
   * @param sentAt - when the question was sent, on the monotonic clock: the server cannot have read its clock earlier
   */
  learn(serverNow: number, sentAt: number): void {
    this.#offset = serverNow - sentAt;
    this.#learntAt = sentAt;
  }

  /** Whether it is time to ask the server again. */
  isStale(now: number): boolean {
    return now - this.#learntAt > LONGEST_VALID;
  }

  /** The latest time that the server's clock may show at an instant of the monotonic clock; 0 if not known. */
  at(monotonic: number): number {
    return this.#offset === undefined ? 0 : Math.ceil(this.#offset + monotonic);
  }
}
