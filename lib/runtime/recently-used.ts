/** Keeps the values that were used last, by name, and lets go of the others. */
export class RecentlyUsed<Value> {
  readonly #values = new Map<string, Value>();
  #latest: string | undefined;

  /** @param most - how many to keep */
  constructor(private readonly most: number) {}

  get size(): number {
    return this.#values.size;
  }

  /** The value of a name; made, if it is not kept. */
  get(name: string, make: () => Value): Value {
    const kept = this.#values.get(name);
    if (kept !== undefined && name === this.#latest) return kept;
    const value = kept ?? make();
    // A map is in the order in which its names were put in.
    this.#values.delete(name);
    this.#values.set(name, value);
    this.#latest = name;
    if (this.#values.size > this.most) this.#values.delete(this.#values.keys().next().value!);
    return value;
  }
}
