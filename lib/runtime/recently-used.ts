/** The maximum number of values examined to drop one. Keeps the cost from growing with the number of values in use. */
const MAX_LOOKS = 2;

/** Keeps the most recently used values, by name. Drops all others that are not in use. */
export class RecentlyUsed<Value> {
  readonly #values = new Map<string, Value>();
  #latest: string | undefined;

  /** @param max - how many unused values to keep */
  constructor(
    private readonly max: number,
    private readonly make: (name: string) => Value,
    private readonly isInUse: (value: Value) => boolean = () => false,
  ) {}

  get size(): number {
    return this.#values.size;
  }

  inUse(name: string): Value | undefined {
    const value = this.#values.get(name);
    return value !== undefined && this.isInUse(value) ? value : undefined;
  }

  /** Returns or creates the value with a name. */
  get(name: string): Value {
    const kept = this.#values.get(name);
    if (kept !== undefined && name === this.#latest) return kept;
    const value = kept ?? this.make(name);
    // A map keeps insertion order, so the value used last must be inserted last.
    this.#values.delete(name);
    this.#values.set(name, value);
    this.#latest = name;
    if (this.#values.size > this.max) this.#drop();
    return value;
  }

  /** Drops the least recently used values, and counts those in use as used now. */
  #drop(): void {
    let looks = MAX_LOOKS;
    for (const [name, value] of this.#values) {
      if (this.#values.size <= this.max || looks-- === 0) return;
      this.#values.delete(name);
      if (this.isInUse(value)) this.#values.set(name, value);
    }
  }
}
