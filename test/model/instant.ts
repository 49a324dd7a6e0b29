/** When a call was made (`from`) and answered (`to`), by the store's clock. */
export interface Moment {
  readonly from: number;
  readonly to: number;
}

/** An instant that a call set. At first only its bounds are known; from the first look on, it is exact. */
export class Instant {
  #earliest: number;
  #latest: number;

  constructor(earliest: number, latest = earliest) {
    this.#earliest = earliest;
    this.#latest = latest;
  }

  /** An instant after a delay, rounded up so that it is never early. */
  static after(delay: number, { from, to }: Moment): Instant {
    return new Instant(Math.ceil(from) + delay, Math.ceil(to) + delay);
  }

  /** A recorded instant, rounded down. */
  static at({ from, to }: Moment): Instant {
    return new Instant(Math.floor(from), Math.floor(to));
  }

  /** An instant rounded either way. */
  static around({ from, to }: Moment): Instant {
    return new Instant(Math.floor(from), Math.ceil(to));
  }

  /** The earlier of two instants. */
  static earlier(one: Instant, other: Instant): Instant {
    return new Instant(Math.min(one.#earliest, other.#earliest), Math.min(one.#latest, other.#latest));
  }

  /** This instant, `ms` milliseconds later. */
  plus(ms: number): Instant {
    return new Instant(this.#earliest + ms, this.#latest + ms);
  }

  get isExact(): boolean {
    return this.#earliest === this.#latest;
  }

  /** The exact instant, known only after a first look. */
  get exact(): number {
    if (this.#earliest !== this.#latest) throw new Error('Nobody has looked at this instant yet.');
    return this.#earliest;
  }

  /** Orders instants; those of different calls do not overlap, or are exact. */
  compare(other: Instant): number {
    return this.#earliest - other.#earliest;
  }

  /** @returns whether the store may report this instant; if so, it must keep reporting it */
  agreesWith(seen: number | null): boolean {
    if (seen === null || seen < this.#earliest || seen > this.#latest) return false;
    this.#earliest = this.#latest = seen;
    return true;
  }

  toString(): string {
    return this.#earliest === this.#latest ? `${this.#earliest}` : `${this.#earliest}…${this.#latest}`;
  }
}
