/** Random numbers that a seed reproduces: small, fast, and good enough for choices. */
export class Random {
  #state: number;

  /** @param seeds - whole numbers; each combination gives its own sequence */
  constructor(...seeds: readonly number[]) {
    this.#state = seeds.reduce((hash, seed) => scramble((hash ^ scramble(seed | 0)) + 0x9e3779b9), 0x2545f491);
  }

  /** A number from 0 up to but excluding 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    return (scramble(this.#state) >>> 0) / 2 ** 32;
  }

  /** A whole number from `min` to `max`, both included. */
  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(choices: readonly T[]): T {
    const choice = choices[this.int(0, choices.length - 1)];
    if (choice === undefined) throw new Error('There is nothing to choose from.');
    return choice;
  }

  /** A shuffled copy. */
  shuffled<T>(items: readonly T[]): T[] {
    const rest = [...items];
    return Array.from(items, () => rest.splice(this.int(0, rest.length - 1), 1)[0]!);
  }
}

function scramble(value: number): number {
  let x = value;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return x ^ (x >>> 16);
}
