/** After so long an answer of the server is too old to tell its clock by, ms: it may have been set, or have drifted. */
const LONGEST_VALID = 60_000;

/** What is known of the server's clock from its answers. */
export class ServerClock {
  /** What is to be added to the monotonic clock of this process, at most; undefined: nothing is known. */
  #offset: number | undefined;
  #learntAt = -Infinity;

  /**
   * @param serverNow - what the server's clock showed, ms since the epoch
   * @param sentAt - when it was asked, on the monotonic clock: it cannot have looked before
   */
  learn(serverNow: number, sentAt: number): void {
    this.#offset = serverNow - sentAt;
    this.#learntAt = sentAt;
  }

  /** Whether it is time to ask the server again. */
  isStale(now: number): boolean {
    return now - this.#learntAt > LONGEST_VALID;
  }

  /** What the server's clock shows at an instant of the monotonic clock, at the latest; 0: not known. */
  at(monotonic: number): number {
    return this.#offset === undefined ? 0 : Math.ceil(this.#offset + monotonic);
  }
}
