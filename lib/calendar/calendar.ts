import { Cron } from 'croner';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { showFailure } from '../message/failure.js';
import type { Calendar } from '../message/repeat-rule.js';
import { showGiven } from '../message/show-given.js';

/**
 * A calendar that reads cron expressions with croner: five fields (minute, hour, day of month, month, day of week), six with seconds first,
 * or a nickname such as `@daily`. Pass it to the module to let messages repeat.
 *
 * When clocks are set forward, a rule with a single time of day that is skipped fires at the end of the skipped hour. When clocks are set
 * back, a rule with a single time of day that comes twice fires only the first time; a rule with several times of day fires both times.
 * @see https://github.com/hexagon/croner for what the fields may contain
 * @example
 * ```ts
 * DelayQueueModule.forRoot({ connection: 'redis://127.0.0.1:6379', calendar });
 * ```
 */
export const calendar: Calendar = {
  next({ cron, timeZone }, after) {
    assertTimeZone(timeZone);
    return cronOf(cron, timeZone).nextRun(after);
  },
};

function assertTimeZone(timeZone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
    if (typeof timeZone === 'string') return;
  } catch {
    // The error below is clearer.
  }
  throw invalid(`timeZone must be an IANA time zone such as 'Europe/Berlin', not ${showGiven(timeZone)}`);
}

function cronOf(cron: string, timezone: string): Cron {
  try {
    return new Cron(cron, { timezone, paused: true });
  } catch (error) {
    throw invalid(`cron '${cron}' is not a valid calendar: ${showFailure(error)}`, error);
  }
}

function invalid(problem: string, cause?: unknown): DelayQueueError {
  return new DelayQueueError('INVALID_ARGUMENT', problem, { cause });
}
