import type { PermitUse } from '../permit-use.js';

/** A violation in a group, and its message. */
export interface GroupFinding {
  readonly n: number;
  readonly what: string;
}

/**
 * Finds messages that began while others had all permits of their group.
 *
 * @param uses - of one group, in the order of their beginnings
 */
export function findCrowded(uses: readonly PermitUse[], concurrency: number): GroupFinding[] {
  const findings: GroupFinding[] = [];
  let present: PermitUse[] = [];
  for (const use of uses) {
    // One that ends in the same millisecond may have ended before.
    present = present.filter(({ to }) => to > use.from);
    if (present.length >= concurrency && !use.mayBeLate) {
      const others = present.map(({ n, from, to }) => `message ${n} from ${from} to ${to}`).join(', ');
      findings.push({ n: use.n, what: `begun at ${use.from}, beside ${others}` });
    }
    present.push(use);
  }
  return findings;
}
