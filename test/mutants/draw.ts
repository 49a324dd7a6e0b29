import { createHash } from 'node:crypto';
import type { Mutant } from './mutation/mutant.js';

/** A mutant drawn by a seed. */
export interface Drawn extends Mutant {
  /** Seed and place: stable while the code is. */
  readonly name: string;
}

/**
 * Yields mutants of lines in an order that the seed decides, as many as there are lines that can be mutated. A line keeps its rank
 * while its text is unchanged, so a change elsewhere hardly changes what a seed draws. Each line counts once, however much can be
 * mutated in it.
 *
 * @param mayRun - asked in the drawn order; the first mutant of a line for which it is true stands for the line
 */
export function* draw(mutants: readonly Mutant[], seed: string, mayRun: (mutant: Mutant) => boolean): Generator<Drawn> {
  const lines = new Map<string, Mutant[]>();
  for (const mutant of mutants) {
    const line = `${mutant.file}:${mutant.line}`;
    const others = lines.get(line);
    if (others) others.push(mutant);
    else lines.set(line, [mutant]);
  }
  for (const line of byRank([...lines.values()], seed, ([{ file, lineText }]) => `${file} ${lineText}`)) {
    const chosen = byRank(line, seed, ({ kind, original }) => `${kind} ${original}`).find(mayRun);
    if (chosen) yield { ...chosen, name: `${seed}/${chosen.place}` };
  }
}

/** Sorts by a hash of seed and key. Equal keys are told apart by their order. */
function byRank<Item extends object>(
  items: readonly Item[],
  seed: string,
  keyOf: (item: Item & readonly [Mutant] & Mutant) => string,
): Item[] {
  const seen = new Map<string, number>();
  const ranked = items.map((item) => {
    const key = keyOf(item as Item & readonly [Mutant] & Mutant);
    const count = (seen.get(key) ?? 0) + 1;
    seen.set(key, count);
    return { item, rank: createHash('sha256').update(`${seed} ${key} ${count}`).digest('hex') };
  });
  return ranked.sort((a, b) => (a.rank < b.rank ? -1 : 1)).map(({ item }) => item);
}
