import { DelayQueueError } from '../message/delay-queue-errors.js';
import { showGiven } from '../message/show-given.js';
import { calendar } from './calendar.js';

/** The options of {@link next}. */
export interface NextOptions {
  /**
   * The result is later than both this and now. In a handler, pass `message.dueAt`: the handler's clock may be behind Redis' clock, so
   * `after: new Date()` could return the current occurrence again.
   */
  readonly after: Date;
  /** An IANA time zone, such as `'Europe/Berlin'`. The process's own zone is ignored, because processes may differ. Default: `'UTC'`. */
  readonly timeZone?: string | undefined;
}

/**
 * Returns the next time that matches a cron expression, for `again()`.
 * @param cron - a cron expression, as {@link calendar} reads it
 * @throws DelayQueueError `INVALID_ARGUMENT` if `cron`, the date or the time zone is invalid, or there is no next time
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
