/** The maximum number of values examined to drop one, so the cost does not grow with the number of values in use. */
const MAX_LOOKS = 2;

/** Keeps the most recently used values, by name, and drops all others that are not in use. */
export class RecentlyUsed<Value> {
  readonly #values = new Map<string, Value>();
  #latest: string | undefined;

  /** @param max - how many values that are not in use to keep */
  constructor(
    private readonly max: number,
    private readonly isInUse: (value: Value) => boolean = () => false,
  ) {}

  get size(): number {
    return this.#values.size;
  }

  inUse(name: string): Value | undefined {
    const value = this.#values.get(name);
    return value !== undefined && this.isInUse(value) ? value : undefined;
  }

  /** Returns the value of a name, or creates it. */
  get(name: string, make: () => Value): Value {
    const kept = this.#values.get(name);
    if (kept !== undefined && name === this.#latest) return kept;
    const value = kept ?? make();
    // A map keeps the order of insertion.
    this.#values.delete(name);
    this.#values.set(name, value);
    this.#latest = name;
    if (this.#values.size > this.max) this.#drop();
    return value;
  }

  /** Drops the least recently used values. Those in use count as used now. */
  #drop(): void {
    let looks = MAX_LOOKS;
    for (const [name, value] of this.#values) {
      if (this.#values.size <= this.max || looks-- === 0) return;
      this.#values.delete(name);
      if (this.isInUse(value)) this.#values.set(name, value);
    }
  }
}
