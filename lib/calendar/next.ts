import { Cron } from 'croner';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { showFailure } from '../message/failure.js';
import { showGiven } from '../message/show-given.js';

/** Where a calendar is read, and from when on. */
export interface NextOptions {
  /**
   * The time is later than this one, and later than now. In a handler, give `message.dueAt`: the clock of its process may be behind
   * that of Redis, and would name the time once more that has just come.
   */
  readonly after: Date;
  /**
   * An IANA time zone, such as `'Europe/Berlin'`. Processes may run in different ones, so that of the process does not count.
   *
   * @defaultValue `'UTC'`
   */
  readonly timeZone?: string | undefined;
}

/**
 * The next time of a calendar.
 *
 * When clocks are set forward, a calendar that names one time of day comes when the hour that is left out ends. When they are set back,
 * it comes once, at the first of both times; one that names several times comes at each.
 *
 * @param cron - five fields (minute, hour, day of month, month, day of week), or six with seconds first, or a nickname such as `@daily`
 * @throws DelayQueueError `INVALID_ARGUMENT` if the calendar, the date or the time zone is none, or the calendar has no next time
 * @see https://github.com/hexagon/croner for what the fields may contain
 *
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
  assertTimeZone(timeZone);
  const found = calendarOf(cron, timeZone).nextRun(new Date(Math.max(after.getTime(), Date.now())));
  if (found === null) throw invalid(`cron '${cron}' has no time after ${after.toISOString()}`);
  return found;
}

function assertTimeZone(timeZone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
    if (typeof timeZone === 'string') return;
  } catch {
    // What follows says it better.
  }
  throw invalid(`timeZone must be an IANA time zone such as 'Europe/Berlin', not ${showGiven(timeZone)}`);
}

function calendarOf(cron: string, timezone: string): Cron {
  try {
    return new Cron(cron, { timezone, paused: true });
  } catch (error) {
    throw invalid(`cron '${cron}' is no calendar: ${showFailure(error)}`, error);
  }
}

function invalid(problem: string, cause?: unknown): DelayQueueError {
  return new DelayQueueError('INVALID_ARGUMENT', `next(): ${problem}`, { cause });
}
