/** How long an answer about the clock stays valid, ms: the clock may be changed, or drift. */
const MAX_VALID = 60_000;

/** When a question was sent and its answer arrived, on the monotonic clock: the clock was read in between. */
export interface RoundTrip {
  readonly sentAt: number;
  readonly receivedAt: number;
}

/** An estimate of a clock elsewhere, such as a server's, from answers that tell its time. It counts from the question, so it is not behind. */
export class RemoteClock {
  /** How far that clock is ahead of the monotonic clock of this process, at most, ms; undefined if not known. */
  #offset: number | undefined;
  #validUntil = -Infinity;

  /** @param longestRoundTrip - an answer that took longer says too little about the clock, ms */
  constructor(private readonly longestRoundTrip: number) {}

  /**
   * Learns from an answer. One that took long leaves a wide range of what the clock may show, so the estimate of before stays if it
   * lies in it.
   *
   * @param shown - what the clock showed, ms since the epoch
   */
  learn(shown: number, { sentAt, receivedAt }: RoundTrip): void {
    const least = shown - receivedAt;
    const most = shown - sentAt;
    const isWide = receivedAt - sentAt > this.longestRoundTrip;
    const isKept = this.#offset !== undefined && least <= this.#offset && this.#offset <= most;
    if (!isKept) this.#offset = most;
    if (!isWide) this.#validUntil = sentAt + MAX_VALID;
    else if (!isKept) this.#validUntil = sentAt;
  }

  /** True if it is time to ask again. */
  isStale(now: number): boolean {
    return now > this.#validUntil;
  }

  /** The latest time that the clock may show at an instant of the monotonic clock; 0 if not known. */
  at(monotonic: number): number {
    return this.#offset === undefined ? 0 : this.#offset + monotonic;
  }
}
