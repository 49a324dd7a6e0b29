/** How late messages were, ms; null before the first one. */
export interface Lateness {
  /** How many messages the figures cover. */
  readonly count: number;
  readonly p50: number | null;
  readonly p99: number | null;
}

/** Remembers how late the latest messages were. A message reported twice counts once. */
export class LatenessWindow {
  readonly #byId = new Map<string, number>();

  /** @param size - how many messages it remembers */
  constructor(private readonly size: number) {}

  add(id: string, lateBy: number): void {
    this.#byId.set(id, lateBy);
    const [oldest] = this.#byId.keys();
    if (this.#byId.size > this.size && oldest !== undefined) this.#byId.delete(oldest);
  }

  summary(): Lateness {
    const sorted = Float64Array.from(this.#byId.values()).sort();
    return { count: sorted.length, p50: percentile(sorted, 50), p99: percentile(sorted, 99) };
  }
}

/**
 * By the nearest rank: the smallest value that at least `percent` of all values do not exceed. So it is a measured value.
 *
 * @param sorted - ascending
 */
function percentile(sorted: Float64Array, percent: number): number | null {
  return sorted[Math.max(0, Math.ceil((percent * sorted.length) / 100) - 1)] ?? null;
}
