import { types } from 'node:util';
import { DelayQueueError } from './delay-queue-errors.js';
import { type CheckedDuration, type Duration, readDelay } from './duration.js';

/** When a message falls due: in a number of ms, or at a given time; both by the store's clock. */
export type DueTime = { readonly after: number } | { readonly at: number };

/**
 * A delay or a date given as an argument.
 * @typeParam Given - the type of the argument
 */
export type CheckedDue<Given extends Duration | Date> = Given extends Duration ? CheckedDuration<Given> : Given;

const LAST_INSTANT = Date.UTC(9999, 11, 31);

/** Reads a date, or throws `INVALID_ARGUMENT`. */
export function dueAt(date: Date, name = 'date'): { readonly at: number } {
  // Also works for a Date from another realm, or of a class that overrides getTime().
  const at = types.isDate(date) ? Date.prototype.getTime.call(date) : NaN;
  if (!(at >= 0 && at <= LAST_INSTANT)) {
    throw new DelayQueueError('INVALID_ARGUMENT', `${name} must be a valid Date between 1970 and 9999`);
  }
  return { at };
}

/** Reads either a delay or a time; throws `INVALID_ARGUMENT` if there is neither or both. */
export function readEither(delay: unknown, at: unknown): DueTime {
  if (at === undefined && delay !== undefined) return { after: readDelay(delay as Duration) };
  if (at !== undefined && delay === undefined) return dueAt(at as Date, 'at');
  const has = at === undefined ? 'neither' : 'both';
  throw new DelayQueueError('INVALID_ARGUMENT', `it must have either a delay or at, a Date, but has ${has}`);
}

/** Reads a delay or a date, or throws `INVALID_ARGUMENT`. */
export function readDue(due: Duration | Date): DueTime {
  return types.isDate(due) ? dueAt(due) : { after: readDelay(due) };
}

/** The last time that a `Date` can show, ms. */
const LAST_DATE = 8.64e15;

/** Converts a time in ms to a `Date`. A time out of range, which only other software can have stored, becomes the nearest date. */
export function dateOf(instant: number): Date {
  return new Date(Math.min(Math.max(instant, 0), LAST_DATE));
}
