import { showFailure } from './failure.js';
import { DelayQueueError } from './delay-queue-errors.js';
import { showGiven } from './show-given.js';

/** Reads each field of an object argument once. Throws `INVALID_ARGUMENT` if it is not an object, has unknown fields, or is unreadable. */
export function readFields<T extends object>(
  given: T,
  place: string,
  fields: readonly (keyof T & string)[],
): Partial<T> {
  if (typeof given !== 'object' || (given as unknown) === null) throw mismatch(place, fields, showGiven(given));
  const read: Partial<T> = {};
  let unknownField: string | undefined;
  let isInstance: boolean;
  try {
    isInstance = !isLiteral(given);
    // Every message of a list is read here, so this makes no list of its keys, and looks at none of the fields that a literal lacks.
    for (const key in given) {
      if ((fields as readonly string[]).includes(key)) {
        if (!isInstance) copyField(given, key as keyof T & string, read);
      } else if (Object.hasOwn(given, key)) unknownField ??= key;
    }
    // An instance of a class may inherit its fields.
    if (isInstance) for (const field of fields) copyField(given, field, read);
  } catch (cause) {
    throw unreadable(place, cause);
  }
  if (unknownField !== undefined) throw mismatch(place, fields, showGiven(unknownField));
  // A list, a Map or a promise has none of the fields, so its contents would be lost.
  if (isInstance && Object.keys(read).length === 0) throw mismatch(place, fields, 'an instance of a class');
  return read;
}

function copyField<T extends object>(given: T, field: keyof T & string, read: Partial<T>): void {
  const value = given[field];
  if (value !== undefined) read[field] = value;
}

/** Calls a function that reads an argument. If it throws, as getters and proxies may, throws `INVALID_ARGUMENT` instead. */
export function reading<T>(place: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw unreadable(place, cause);
  }
}

/** Returns a number within a range, which includes both ends, or throws `INVALID_ARGUMENT`. */
export function readWholeNumber(name: string, given: unknown, [min, max]: readonly [number, number]): number {
  if (Number.isInteger(given) && (given as number) >= min && (given as number) <= max) return given as number;
  const problem = `${name} must be a whole number from ${min} to ${max}, not ${showGiven(given)}`;
  throw new DelayQueueError('INVALID_ARGUMENT', problem);
}

/** True for a plain object from any realm. */
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
