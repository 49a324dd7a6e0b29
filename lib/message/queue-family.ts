import { QUEUE_NAME_RULE } from './queue-name.js';

/**
 * A family of queues: all whose names begin with what stands before the `*`. There must be something before it: a handler of
 * all queues would also take the messages of other applications.
 */
export const QUEUE_FAMILY = /^[A-Za-z0-9_.:-]{1,127}\*$/;

export const QUEUE_OR_FAMILY_RULE = `${QUEUE_NAME_RULE}; a family of queues is the beginning of their names and a *`;

/** Whether this names a family rather than a queue. Both have been checked. */
export function isFamily(name: string): boolean {
  return name.endsWith('*');
}

/** Whether a queue belongs to a family. */
export function belongsTo(family: string, queue: string): boolean {
  return queue.startsWith(family.slice(0, -1));
}

/** The family of a queue: of those it belongs to, the one with the longest name. */
export function familyOf(queue: string, families: Iterable<string>): string | undefined {
  let longest: string | undefined;
  for (const family of families) {
    if (belongsTo(family, queue) && family.length > (longest?.length ?? 0)) longest = family;
  }
  return longest;
}
