/** The outcome for the messages of one queue. */
export interface QueueVerdict {
  readonly offered: number;
  /** Acknowledged, and never seen again. */
  readonly lost: readonly string[];
  /** Seen before they were due. */
  readonly early: readonly string[];
  /** Seen more than once. */
  readonly again: number;
  readonly byNode: number;
  readonly byJava: number;
}

type Side = 'node' | 'java';

/** Keeps the books of one queue: what was offered, and who got it when. All clocks are that of this machine. */
export class Ledger {
  readonly #due = new Map<string, number>();
  readonly #acknowledged = new Set<string>();
  readonly #seen = new Map<string, number>();
  readonly #early: string[] = [];
  readonly #by: Record<Side, number> = { node: 0, java: 0 };

  /** New values, about to be offered with this delay. */
  next(count: number, by: Side, delay: number): string[] {
    const due = Date.now() + delay;
    return Array.from({ length: count }, () => {
      const value = `${by}-${this.#due.size}`;
      this.#due.set(value, due);
      return value;
    });
  }

  acknowledge(values: readonly string[]): void {
    for (const value of values) this.#acknowledged.add(value);
  }

  see(by: Side, value: string, at: number): void {
    this.#by[by]++;
    this.#seen.set(value, (this.#seen.get(value) ?? 0) + 1);
    if (at < (this.#due.get(value) ?? Infinity)) this.#early.push(value);
  }

  get lost(): string[] {
    return [...this.#acknowledged].filter((value) => !this.#seen.has(value));
  }

  verdict(): QueueVerdict {
    return {
      offered: this.#acknowledged.size,
      lost: this.lost,
      early: this.#early,
      again: [...this.#seen.values()].filter((times) => times > 1).length,
      byNode: this.#by.node,
      byJava: this.#by.java,
    };
  }
}
