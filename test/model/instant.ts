/** When a call was made and answered, by the store's clock. */
export interface Moment {
  readonly from: number;
  readonly to: number;
}

/** An instant that a call set: it is known to lie between two, and exactly from the first look on. */
export class Instant {
  #earliest: number;
  #latest: number;

  constructor(earliest: number, latest = earliest) {
    this.#earliest = earliest;
    this.#latest = latest;
  }

  /** So long after a moment, rounded up: never early. */
  static after(delay: number, { from, to }: Moment): Instant {
    return new Instant(Math.ceil(from) + delay, Math.ceil(to) + delay);
  }

  /** A moment that is noted down, rounded down. */
  static at({ from, to }: Moment): Instant {
    return new Instant(Math.floor(from), Math.floor(to));
  }

  /** A moment, rounded either way. */
  static around({ from, to }: Moment): Instant {
    return new Instant(Math.floor(from), Math.ceil(to));
  }

  /** The exact instant; only after a first look. */
  get exact(): number {
    if (this.#earliest !== this.#latest) throw new Error('Nobody has looked at this instant yet.');
    return this.#earliest;
  }

  /** Which is earlier; instants of different calls lie apart or are known. */
  compare(other: Instant): number {
    return this.#earliest - other.#earliest;
  }

  /** @returns whether the store may say so; then it is what the store has to say from now on */
  agreesWith(seen: number | null): boolean {
    if (seen === null || seen < this.#earliest || seen > this.#latest) return false;
    this.#earliest = this.#latest = seen;
    return true;
  }

  toString(): string {
    return this.#earliest === this.#latest ? `${this.#earliest}` : `${this.#earliest}…${this.#latest}`;
  }
}
