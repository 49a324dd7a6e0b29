import { producerOf } from '../../workload/content.js';
import type { PermitUse } from '../permit-use.js';
import type { GroupFinding } from './crowded.js';

/** The clocks of a journal and of Redis are both rounded, ms. */
const ROUNDING = 1;

/**
 * Finds messages of a group with one permit that began after another one, although they fell due before it, or in the same
 * millisecond and were offered before it. The backlog is in the order of due times: a message that was surely in the queue when
 * another one fell due, and due before that, must begin before it.
 *
 * @param uses - of one group, in the order of their beginnings
 * @param isOneOfMany - whether a message was offered in one call with others, in the order of their numbers
 */
export function findOvertaken(uses: readonly PermitUse[], isOneOfMany: (n: number) => boolean): GroupFinding[] {
  return [...findDueBefore(uses), ...findOfferedBefore(uses, isOneOfMany)];
}

function findDueBefore(uses: readonly PermitUse[]): GroupFinding[] {
  const findings: GroupFinding[] = [];
  const fromBacklog = uses.filter(({ isFromBacklog }) => isFromBacklog);
  /** Of those that began before, the one that was due last. */
  let last: PermitUse | undefined;
  let at = 0;
  for (const use of fromBacklog) {
    for (; fromBacklog[at]!.from < use.from; at++) if (!last || fromBacklog[at]!.due > last.due) last = fromBacklog[at];
    if (!last || !use.setting) continue;
    const { knownAt } = use.setting;
    if (last.due > Math.max(use.due, knownAt + ROUNDING)) {
      const ahead = `message ${last.n}, which was due at ${last.due} and began at ${last.from}`;
      findings.push({
        n: use.n,
        what: `due at ${use.due}, in the queue since ${knownAt}, but begun at ${use.from}, behind ${ahead}`,
      });
    }
  }
  return findings;
}

function findOfferedBefore(uses: readonly PermitUse[], isOneOfMany: (n: number) => boolean): GroupFinding[] {
  const findings: GroupFinding[] = [];
  const begun = new Map<number, PermitUse[]>();
  for (const use of uses) {
    if (!use.setting?.isOffer) continue;
    const others = begun.get(use.due) ?? [];
    const ahead = others.find((other) => other.from < use.from && isOfferedBefore(use, other, isOneOfMany));
    if (ahead) {
      const what = `due at ${use.due} and offered before message ${ahead.n}, but begun at ${use.from}, after it at ${ahead.from}`;
      findings.push({ n: use.n, what });
    }
    begun.set(use.due, [...others, use]);
  }
  return findings;
}

function isOfferedBefore(a: PermitUse, b: PermitUse, isOneOfMany: (n: number) => boolean): boolean {
  const [first, second] = [a.setting!, b.setting!];
  if (first.knownAt < second.invokedAt) return true;
  const isInOneCall = first.invokedAt === second.invokedAt && producerOf(a.n) === producerOf(b.n);
  return isInOneCall && isOneOfMany(a.n) && isOneOfMany(b.n) && a.n < b.n;
}
