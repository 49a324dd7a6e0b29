import { DelayQueueError } from './delay-queue-errors.js';
import { showGiven } from './show-given.js';

/** Allows no braces: the name stands in braces as a key's hash tag, and `{}` inside it would spread a queue's keys over hash slots. */
export const QUEUE_NAME = /^[A-Za-z0-9_.:-]{1,128}$/;

export const QUEUE_NAME_RULE = 'a queue name has 1–128 of the characters A–Z a–z 0–9 _ . : -';

/**
 * Asserts that a queue name is valid. For tools that check the name before they connect.
 * @throws DelayQueueError `INVALID_ARGUMENT`
 */
export function assertQueueName(queue: unknown): asserts queue is string {
  if (typeof queue === 'string' && QUEUE_NAME.test(queue)) return;
  throw new DelayQueueError('INVALID_ARGUMENT', `queue: ${QUEUE_NAME_RULE}, not ${showGiven(queue)}`);
}

/** Matches a family's name. Needs a character before the `*`, because a handler for all queues would take other applications' messages. */
export const QUEUE_FAMILY = /^[A-Za-z0-9_.:-]{1,127}\*$/;

export const QUEUE_OR_FAMILY_RULE = `${QUEUE_NAME_RULE}; a family of queues is the beginning of their names followed by a *`;

/** True if a checked name is a family's rather than a queue's. */
export function isFamily(name: string): boolean {
  return name.endsWith('*');
}

export function belongsTo(family: string, queue: string): boolean {
  return queue.startsWith(family.slice(0, -1));
}

/**
 * Returns the family of a queue; if several match, the one with the longest name.
 * @param families - their patterns, such as `tenant-*`
 */
export function familyOf(queue: string, families: Iterable<string>): string | undefined {
  let longest: string | undefined;
  for (const family of families) {
    if (belongsTo(family, queue) && family.length > (longest?.length ?? 0)) longest = family;
  }
  return longest;
}
