/** How long an answer about the clock stays valid, ms. The clock may be changed, or drift. */
const MAX_VALID = 60_000;

/** When a question was sent and its answer arrived, on the monotonic clock. The remote clock was read in between. */
export interface RoundTrip {
  readonly sentAt: number;
  readonly receivedAt: number;
}

/**
 * Estimates a remote clock, such as a server's, from answers that include its time. Assumes that the clock was read as soon as the question
 * was sent, so the estimate is never behind.
 */
export class RemoteClock {
  /** The maximum lead of the remote clock over this process' monotonic clock, ms; undefined if unknown. */
  #offset: number | undefined;
  #validUntil = -Infinity;

  /** @param maxRoundTrip - the maximum round trip, ms, of an answer that is precise enough */
  constructor(private readonly maxRoundTrip: number) {}

  /** Learns from an answer with the clock's time, ms since the epoch. A slow answer keeps an earlier estimate within its range. */
  learn(shown: number, { sentAt, receivedAt }: RoundTrip): void {
    const least = shown - receivedAt;
    const most = shown - sentAt;
    const isWide = receivedAt - sentAt > this.maxRoundTrip;
    const isKept = this.#offset !== undefined && least <= this.#offset && this.#offset <= most;
    if (!isKept) this.#offset = most;
    if (!isWide) this.#validUntil = sentAt + MAX_VALID;
    else if (!isKept) this.#validUntil = sentAt;
  }

  isStale(now: number): boolean {
    return now > this.#validUntil;
  }

  /** Returns the latest time that the clock may show at a time on the monotonic clock; 0 if unknown. */
  at(monotonic: number): number {
    return this.#offset === undefined ? 0 : this.#offset + monotonic;
  }
}
