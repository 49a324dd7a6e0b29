import { showFailure } from './failure.js';
import { DelayQueueError } from './delay-queue.errors.js';
import { showGiven } from './show-given.js';

/**
 * Takes the fields out of an argument that is an object, each read once.
 *
 * @param place - what to call it in an error
 * @throws DelayQueueError `INVALID_ARGUMENT` if it is no such object, has other fields, or cannot be read
 */
export function readFields<T extends object>(
  given: T,
  place: string,
  fields: readonly (keyof T & string)[],
): Partial<T> {
  if (typeof given !== 'object' || (given as unknown) === null) throw mismatch(place, fields, showGiven(given));
  const read: Partial<T> = {};
  let stranger: string | undefined;
  // A list, a Map or a promise has none of the fields, and what was meant would be lost.
  let isNoOne: boolean;
  try {
    for (const key of Object.keys(given)) if (!(fields as readonly string[]).includes(key)) stranger ??= key;
    for (const field of fields) {
      const value = given[field];
      if (value !== undefined) read[field] = value;
    }
    isNoOne = !isLiteral(given) && Object.keys(read).length === 0;
  } catch (cause) {
    throw unreadable(place, cause);
  }
  if (stranger !== undefined) throw mismatch(place, fields, showGiven(stranger));
  if (isNoOne) throw mismatch(place, fields, 'an instance of a class');
  return read;
}

/**
 * Runs what reads an argument, where a getter or a proxy may throw.
 *
 * @throws DelayQueueError `INVALID_ARGUMENT`
 */
export function reading<T>(place: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw unreadable(place, cause);
  }
}

/** Whether it is an object of a literal, of whatever realm. */
export function isLiteral(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (prototype === Object.prototype) return true;
  return !Array.isArray(value) && (prototype === null || Object.getPrototypeOf(prototype) === null);
}

function mismatch(place: string, fields: readonly string[], given: string): DelayQueueError {
  return new DelayQueueError('INVALID_ARGUMENT', `${place}: must be an object with ${fields.join(', ')}, not ${given}`);
}

function unreadable(place: string, cause: unknown): DelayQueueError {
  return new DelayQueueError('INVALID_ARGUMENT', `${place}: it cannot be read (${showFailure(cause)})`, { cause });
}
