/** Keeps the most recently used values, by name, and drops the others. */
export class RecentlyUsed<Value> {
  readonly #values = new Map<string, Value>();
  #latest: string | undefined;

  /** @param most - how many to keep */
  constructor(private readonly most: number) {}

  get size(): number {
    return this.#values.size;
  }

  /** Returns the value of a name, created if it is not there. */
  get(name: string, make: () => Value): Value {
    const kept = this.#values.get(name);
    if (kept !== undefined && name === this.#latest) return kept;
    const value = kept ?? make();
    // A map keeps the order of insertion.
    this.#values.delete(name);
    this.#values.set(name, value);
    this.#latest = name;
    if (this.#values.size > this.most) this.#values.delete(this.#values.keys().next().value!);
    return value;
  }
}
