import { producerOf } from '../../workload/content.js';
import type { Turn } from '../turn.js';
import type { GroupFinding } from './crowded.js';

/** The clocks of a journal and of Redis are both rounded, ms. */
const ROUNDING = 1;

/**
 * Finds messages of a group with one permit that began after another one, although they fell due before it, or in the same
 * millisecond and were offered before it. The backlog is in the order of due times: a message that was surely in the queue when
 * another one fell due, and due before that, must begin before it.
 *
 * @param turns - of one group, in the order of their beginnings
 * @param isOneOfMany - whether a message was offered in one call with others, in the order of their numbers
 */
export function findOvertaken(turns: readonly Turn[], isOneOfMany: (n: number) => boolean): GroupFinding[] {
  return [...findDueBefore(turns), ...findOfferedBefore(turns, isOneOfMany)];
}

function findDueBefore(turns: readonly Turn[]): GroupFinding[] {
  const findings: GroupFinding[] = [];
  const fromBacklog = turns.filter(({ isFromBacklog }) => isFromBacklog);
  /** Of those that began before, the one that was due last. */
  let last: Turn | undefined;
  let at = 0;
  for (const turn of fromBacklog) {
    for (; fromBacklog[at]!.from < turn.from; at++)
      if (!last || fromBacklog[at]!.due > last.due) last = fromBacklog[at];
    if (!last || !turn.setting) continue;
    const { knownAt } = turn.setting;
    if (last.due > Math.max(turn.due, knownAt + ROUNDING)) {
      const ahead = `message ${last.n}, which was due at ${last.due} and began at ${last.from}`;
      findings.push({
        n: turn.n,
        what: `due at ${turn.due}, in the queue since ${knownAt}, but begun at ${turn.from}, behind ${ahead}`,
      });
    }
  }
  return findings;
}

function findOfferedBefore(turns: readonly Turn[], isOneOfMany: (n: number) => boolean): GroupFinding[] {
  const findings: GroupFinding[] = [];
  const begun = new Map<number, Turn[]>();
  for (const turn of turns) {
    if (!turn.setting?.isOffer) continue;
    const others = begun.get(turn.due) ?? [];
    const ahead = others.find((other) => other.from < turn.from && isOfferedBefore(turn, other, isOneOfMany));
    if (ahead) {
      const what = `due at ${turn.due} and offered before message ${ahead.n}, but begun at ${turn.from}, after it at ${ahead.from}`;
      findings.push({ n: turn.n, what });
    }
    begun.set(turn.due, [...others, turn]);
  }
  return findings;
}

function isOfferedBefore(a: Turn, b: Turn, isOneOfMany: (n: number) => boolean): boolean {
  const [first, second] = [a.setting!, b.setting!];
  if (first.knownAt < second.invokedAt) return true;
  const isInOneCall = first.invokedAt === second.invokedAt && producerOf(a.n) === producerOf(b.n);
  return isInOneCall && isOneOfMany(a.n) && isOneOfMany(b.n) && a.n < b.n;
}
