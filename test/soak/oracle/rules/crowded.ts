import type { Turn } from '../turn.js';

/** Something wrong in a group, and the message that it is about. */
export interface LaneFinding {
  readonly n: number;
  readonly what: string;
}

/**
 * Finds messages that were begun while others had all slots of their group.
 *
 * @param turns - of one group, in the order of their beginnings
 */
export function findCrowded(turns: readonly Turn[], concurrency: number): LaneFinding[] {
  const findings: LaneFinding[] = [];
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
