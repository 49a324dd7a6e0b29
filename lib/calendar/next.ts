import { DelayQueueError } from '../message/delay-queue-errors.js';
import { showGiven } from '../message/show-given.js';
import { calendar } from './calendar.js';

/** The start and the time zone of {@link next}. */
export interface NextOptions {
  /**
   * The time is later than this one and later than now. In a handler, give `message.dueAt`: the clock of its process may be behind that of
   * Redis, and would name the present occurrence once more.
   */
  readonly after: Date;
  /**
   * An IANA time zone, such as `'Europe/Berlin'`. The time zone of the process does not count, since processes may differ. Default:
   * `'UTC'`.
   */
  readonly timeZone?: string | undefined;
}

/**
 * Finds the next time of a calendar, for `again()`.
 * @param cron - as {@link calendar} reads it
 * @throws DelayQueueError `INVALID_ARGUMENT` if the calendar, the date or the time zone is invalid, or the calendar has no next time
 * @example
 * ```ts
 * class Digests {
 *   @DelayedHandler('digests')
 *   async send(_payload: unknown, { dueAt }: DelayedMessage) {
 *     // …
 *     return again(next('0 9 * * 1-5', { after: dueAt, timeZone: 'Europe/Berlin' }));
 *   }
 * }
 * ```
 */
export function next(cron: string, { after, timeZone = 'UTC' }: NextOptions): Date {
  if (typeof cron !== 'string') throw invalid(`cron must be text such as '0 9 * * 1-5', not ${showGiven(cron)}`);
  if (!(after instanceof Date) || Number.isNaN(after.getTime()))
    throw invalid(`after must be a valid Date, such as message.dueAt, not ${showGiven(after)}`);
  const found = calendar.next({ cron, timeZone }, new Date(Math.max(after.getTime(), Date.now())));
  if (found === null) throw invalid(`cron '${cron}' has no time after ${after.toISOString()}`);
  return found;
}

function invalid(problem: string): DelayQueueError {
  return new DelayQueueError('INVALID_ARGUMENT', `next(): ${problem}`);
}
