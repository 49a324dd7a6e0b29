import { DelayQueueError } from './delay-queue-errors.js';
import { tagOf } from './partition-of.js';
import { showGiven } from './show-given.js';

/** The rule by which a message repeats. */
export interface RepeatRule {
  /** The times at which the message repeats, such as `'0 9 * * 1-5'`. */
  readonly cron: string;
  /** The IANA time zone in which `cron` is read. */
  readonly timeZone: string;
  /** What happens to occurrences that no process could handle in time: they are handled once, late, or skipped. */
  readonly missed: 'once' | 'skip';
}

/** One occurrence of a repeating message. */
export interface Occurrence extends RepeatRule {
  /** The scheduled time of the occurrence, as the calendar calculated it. Retries do not change it. */
  readonly at: Date;
}

/** Calculates a rule's times. Give one to the module as its option `calendar`; `nestjs-delay-queue/calendar` exports one. */
export interface Calendar {
  /**
   * Returns a rule's first time after a given time, or null if there is none.
   * @throws DelayQueueError `INVALID_ARGUMENT` if `cron` or the time zone is invalid
   */
  next(rule: Pick<RepeatRule, 'cron' | 'timeZone'>, after: Date): Date | null;
}

/** Printable ASCII, which suffices for cron expressions and time zones. */
const TEXT = /^[ -~]{1,200}$/;
const MISSED: readonly unknown[] = ['once', 'skip'] satisfies RepeatRule['missed'][];

/** Checks a rule, except for the content of `cron`; throws `INVALID_ARGUMENT`. */
export function readRule({ cron, timeZone = 'UTC', missed = 'once' }: Partial<RepeatRule>): RepeatRule {
  if (!isText(cron)) throw invalid(`cron must be text such as '0 9 * * 1-5', not ${showGiven(cron)}`);
  if (!isText(timeZone)) {
    throw invalid(`timeZone must be an IANA time zone such as 'Europe/Berlin', not ${showGiven(timeZone)}`);
  }
  if (!MISSED.includes(missed)) throw invalid(`missed must be 'once' or 'skip', not ${showGiven(missed)}`);
  return { cron, timeZone, missed };
}

/** True if a stored value is a rule. */
export function isRule(value: unknown): value is RepeatRule {
  const { cron, timeZone, missed } = (value ?? {}) as Partial<RepeatRule>;
  return isText(cron) && isText(timeZone) && MISSED.includes(missed);
}

/** Returns the id of an occurrence's dead letter, such as `{digest}@2026-03-02T08:00:00.000Z`. The braces keep it in the same partition. */
export function letterIdOf(id: string, at: Date): string {
  return `${tagOf(id) === id ? `{${id}}` : id}@${at.toISOString()}`;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && TEXT.test(value);
}

const invalid = (problem: string) => new DelayQueueError('INVALID_ARGUMENT', problem);
