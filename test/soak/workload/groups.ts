import type { Random } from '../random.js';

/** The number of groups that a queue has. */
export const GROUPS = 40;

/** The number of messages that have no group. */
const WITHOUT = 0.1;

/** The sum of all sizes of groups. */
const TOTAL = Array.from({ length: GROUPS }, (_, i) => sizeOf(i)).reduce((sum, size) => sum + size, 0);

/** The sizes of groups follow a power law: the first one has a quarter of all messages, the last ones have a few. */
function sizeOf(group: number): number {
  return 1 / (group + 1);
}

/**
 * @param isSlow - its handler takes seconds. Many such messages in a large group would delay its backlog without end, so they are in small ones.
 * @returns null for a message without a group
 */
export function chooseGroup(random: Random, { isSlow }: { isSlow: boolean }): string | null {
  if (random.chance(WITHOUT)) return null;
  if (isSlow) return nameOf(random.int(GROUPS / 2, GROUPS - 1));
  let rest = random.next() * TOTAL;
  let group = 0;
  while (group < GROUPS - 1 && (rest -= sizeOf(group)) >= 0) group++;
  return nameOf(group);
}

const nameOf = (group: number): string => `g${group}`;
