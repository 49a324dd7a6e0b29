/** How long an answer about the clock stays valid, ms: the clock may be changed, or drift. */
const MAX_VALID = 60_000;

/** When a question was sent and its answer arrived, on the monotonic clock: the remote clock was read in between. */
export interface RoundTrip {
  readonly sentAt: number;
  readonly receivedAt: number;
}

/**
 * Estimates a remote clock, such as a server's, from answers that carry its time. Assumes that the clock was read as soon as the question
 * was sent, so the estimate is never behind.
 */
export class RemoteClock {
  /** The maximum lead of the remote clock over the monotonic clock of this process, ms; undefined if not known. */
  #offset: number | undefined;
  #validUntil = -Infinity;

  /** @param maxRoundTrip - the maximum round trip, ms, of an answer that says enough about the clock */
  constructor(private readonly maxRoundTrip: number) {}

  /** Learns from an answer with the clock's time, ms since the epoch. A slow one keeps an earlier estimate that is within its range. */
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

  /** The latest time that the clock may show at a given time on the monotonic clock; 0 if not known. */
  at(monotonic: number): number {
    return this.#offset === undefined ? 0 : this.#offset + monotonic;
  }
}
