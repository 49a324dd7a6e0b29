/** How long an answer about the server's clock stays valid, ms: the clock may be changed, or drift. */
const LONGEST_VALID = 60_000;

/**
 * An answer that took longer says too little about the server's clock, so it is asked again, ms. Networks that are slow but sound
 * are faster, and after an outage each question costs the calls that wait a round trip.
 */
const LONGEST_ROUND_TRIP = 250;

/** When a question was sent and its answer arrived, on the monotonic clock: the server read its clock in between. */
export interface RoundTrip {
  readonly sentAt: number;
  readonly receivedAt: number;
}

/** An estimate of the server's clock from its answers. */
export class ServerClock {
  /** How far the server's clock is ahead of the monotonic clock of this process, at most, ms; undefined if not known. */
  #offset: number | undefined;
  #validUntil = -Infinity;

  /**
   * Learns from an answer of the server. An answer that took long leaves a wide range of what the clock may show, so the estimate
   * of before stays if it lies in it.
   *
   * @param serverNow - what the server's clock showed, ms since the epoch
   */
  learn(serverNow: number, { sentAt, receivedAt }: RoundTrip): void {
    const least = serverNow - receivedAt;
    const most = serverNow - sentAt;
    if (this.#offset === undefined || this.#offset < least || this.#offset > most) this.#offset = most;
    const isWide = receivedAt - sentAt > LONGEST_ROUND_TRIP;
    this.#validUntil = isWide ? sentAt : sentAt + LONGEST_VALID;
  }

  /** Whether it is time to ask the server again. */
  isStale(now: number): boolean {
    return now > this.#validUntil;
  }

  /** The latest time that the server's clock may show at an instant of the monotonic clock; 0 if not known. */
  at(monotonic: number): number {
    return this.#offset === undefined ? 0 : Math.ceil(this.#offset + monotonic);
  }
}
