import type { Turn } from '../turn.js';

/** A violation in a group, and its message. */
export interface GroupFinding {
  readonly n: number;
  readonly what: string;
}

/**
 * Finds messages that began while others had all permits of their group.
 *
 * @param turns - of one group, in the order of their beginnings
 */
export function findCrowded(turns: readonly Turn[], concurrency: number): GroupFinding[] {
  const findings: GroupFinding[] = [];
  let present: Turn[] = [];
  for (const turn of turns) {
    // One that ends in the same millisecond may have ended before.
    present = present.filter(({ to }) => to > turn.from);
    if (present.length >= concurrency && !turn.mayBeLate) {
      const others = present.map(({ n, from, to }) => `message ${n} from ${from} to ${to}`).join(', ');
      findings.push({ n: turn.n, what: `begun at ${turn.from}, beside ${others}` });
    }
    present.push(turn);
  }
  return findings;
}
