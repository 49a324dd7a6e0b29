type Numbers = Int32Array | Uint16Array | Uint8Array;

/** A growing list of numbers at a few bytes each. */
export class Column<Kind extends Numbers> {
  #numbers: Kind;
  #length = 0;

  constructor(private readonly kind: new (length: number) => Kind) {
    this.#numbers = new kind(1024);
  }

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    if (this.#length === this.#numbers.length) {
      const larger = new this.kind(this.#length * 2);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    this.#numbers[this.#length++] = value;
  }

  /** A copy of all numbers. */
  numbers(): Kind {
    return this.#numbers.slice(0, this.#length) as Kind;
  }

  at(index: number): number {
    return this.#numbers[index] ?? 0;
  }
}
