/** Numbers from 0 (inclusive) to 1 (exclusive). */
export type Chance = () => number;

/** A stream of numbers (sfc32): the same text gives the same numbers, and other texts give unrelated ones. */
export function chanceOf(text: string): Chance {
  let h = 1779033703 ^ text.length;
  for (let i = 0; i < text.length; i++) {
    h = Math.imul(h ^ text.charCodeAt(i), 3432918353);
    h = (h << 13) | (h >>> 19);
  }
  const next = () => {
    h = Math.imul(h ^ (h >>> 16), 2246822507);
    h = Math.imul(h ^ (h >>> 13), 3266489909);
    return (h ^= h >>> 16) >>> 0;
  };
  let [a, b, c, d] = [next(), next(), next(), 1];
  const draw = () => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + t;
    return (t >>> 0) / 2 ** 32;
  };
  for (let i = 0; i < 12; i++) draw();
  return draw;
}

/** From `low` to `high`. */
export const between = (chance: Chance, low: number, high: number): number => low + (high - low) * chance();

/** A whole number from `low` to `high`, both included. */
export const integer = (chance: Chance, low: number, high: number): number =>
  low + Math.floor((high - low + 1) * chance());

export function pick<const Item>(chance: Chance, items: readonly [Item, ...Item[]]): Item {
  return items[Math.floor(chance() * items.length)] ?? items[0];
}

/** Draws items, each with a probability of its own. */
export class Drawer<Item> {
  readonly #ends: readonly number[];
  readonly #all: number;

  /** @param shares - of the items, relative to each other */
  constructor(
    private readonly items: readonly Item[],
    shares: readonly number[],
  ) {
    let end = 0;
    this.#ends = shares.map((share) => (end += share));
    this.#all = end;
  }

  draw(chance: Chance): Item {
    const at = this.#all * chance();
    return this.items[this.#ends.findIndex((end) => at < end)]!;
  }
}

/** A number from 0 to 1 that belongs to three others, whoever asks for it and whenever. */
export function fixedChance(seed: number, one: number, other: number): number {
  let h = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(one + 0x7f4a7c15, 0xc2b2ae35);
  h = Math.imul(h ^ (h >>> 15) ^ Math.imul(other + 0x165667b1, 0x27d4eb2f), 0x2c1b3c6d);
  h = Math.imul(h ^ (h >>> 12), 0x297a2d39);
  return ((h ^ (h >>> 15)) >>> 0) / 2 ** 32;
}
