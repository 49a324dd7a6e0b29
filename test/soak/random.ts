import { createHash } from 'node:crypto';
import { uniformFloat32 } from 'pure-rand/distribution/uniformFloat32';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plusFromState } from 'pure-rand/generator/xoroshiro128plus';

/** Random numbers that seeds reproduce, from fast-check's own generator. */
export class Random {
  readonly #generator;

  /** @param seeds - whole numbers; each combination gives its own sequence */
  constructor(...seeds: readonly number[]) {
    // Similar seeds, such as those of neighbouring messages, must not give similar sequences.
    const digest = createHash('sha256').update(seeds.join()).digest();
    this.#generator = xoroshiro128plusFromState([0, 4, 8, 12].map((at) => digest.readInt32LE(at)));
  }

  /** A number from 0 up to but excluding 1. */
  next(): number {
    return uniformFloat32(this.#generator);
  }

  /** A whole number from `min` to `max`, both included. */
  int(min: number, max: number): number {
    return uniformInt(this.#generator, min, max);
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
