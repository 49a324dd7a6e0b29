import { dateOf } from './duration.js';
import { tagOf } from './partition-of.js';

/** The rule by which a message repeats: either a `cron` expression or an interval, `every`. */
export interface RepeatRule {
  /** The times at which the message repeats, such as `'0 9 * * 1-5'`; absent if it repeats at an interval. */
  readonly cron?: string | undefined;
  /** The IANA time zone in which `cron` is read; absent if there is no `cron`. */
  readonly timeZone?: string | undefined;
  /** The interval, ms, counted from `startsAt`, or else from 1970 (UTC); absent if there is a `cron`. */
  readonly every?: number | undefined;
  /** What happens to occurrences that no process could handle in time: they are handled once, late, or skipped, or handled one by one. */
  readonly missed: 'once' | 'skip' | 'each';
  /** How late an occurrence may be and still be made up for, ms. Only with `missed: 'each'`. */
  readonly catchUp?: number | undefined;
  /** No occurrence is earlier. */
  readonly startsAt?: Date | undefined;
  /** No occurrence is later. */
  readonly endsAt?: Date | undefined;
  /** After so many occurrences, the message no longer repeats. */
  readonly limit?: number | undefined;
}

/** A rule, and how far its message has come. */
export interface RepeatProgress extends RepeatRule {
  /** How many occurrences were handled or have failed for good. Absent if the rule has only `cron`, `timeZone` and `missed`. */
  readonly count?: number | undefined;
  /** True if somebody has paused the repetition; otherwise absent. */
  readonly isPaused?: true | undefined;
}

/** One occurrence of a repeating message. */
export interface Occurrence extends RepeatRule {
  /** The scheduled time of the occurrence, as the rule defines it. Retries do not change it. */
  readonly at: Date;
  /** The number of this occurrence, from 1. Absent if the rule has only `cron`, `timeZone` and `missed`. */
  readonly count?: number | undefined;
  /** True if the rule has no other time after this occurrence, as far as this attempt can know when it starts. */
  readonly isLast: boolean;
}

/** What a calendar reads. */
export interface CronTimes {
  readonly cron: string;
  readonly timeZone: string;
}

/** Calculates a rule's times. Give one to the module as its option `calendar`; `nestjs-delay-queue/calendar` exports one. */
export interface Calendar {
  /**
   * Returns a rule's first time after a given time, or null if there is none.
   * @throws DelayQueueError `INVALID_ARGUMENT` if `cron` or the time zone is invalid
   */
  next(rule: CronTimes, after: Date): Date | null;
}

/** The due time of a paused message, ms: later than any that can be given. */
export const PAUSED_UNTIL = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Printable ASCII, which suffices for cron expressions and time zones. */
const TEXT = /^[ -~]{1,200}$/;

/**
 * Writes a rule as one line. Versions that know only `cron`, `timeZone` and `missed` read other rules' lines, too, but not the line that
 * follows, and put such a message off. So these three are always there.
 */
export function writeRule({ cron, timeZone, missed, every, catchUp, startsAt, endsAt, limit }: RepeatRule): string {
  const known = { cron: cron ?? 'every', timeZone: timeZone ?? 'UTC', missed: missed === 'each' ? 'once' : missed };
  const [from, to] = [startsAt?.getTime(), endsAt?.getTime()];
  return JSON.stringify({ ...known, every, catchUp, startsAt: from, endsAt: to, limit });
}

/** Reads a stored rule. Returns undefined if it is damaged. */
export function parseRule(line: string): RepeatRule | undefined {
  let stored: unknown;
  try {
    stored = JSON.parse(line);
  } catch {
    return undefined;
  }
  const { cron, timeZone, missed, every, catchUp, startsAt, endsAt, limit } = (stored ?? {}) as Record<string, unknown>;
  if (!isText(cron) || !isText(timeZone) || (missed !== 'once' && missed !== 'skip')) return undefined;
  const numbers = Object.entries({ every, catchUp, startsAt, endsAt, limit }).filter(([, each]) => each !== undefined);
  if (numbers.some(([, each]) => !Number.isSafeInteger(each) || (each as number) < 0)) return undefined;
  return {
    ...(every === undefined ? { cron, timeZone } : { every: every as number }),
    ...(catchUp === undefined ? { missed } : { missed: 'each', catchUp: catchUp as number }),
    ...(startsAt !== undefined && { startsAt: dateOf(startsAt as number) }),
    ...(endsAt !== undefined && { endsAt: dateOf(endsAt as number) }),
    ...(limit !== undefined && { limit: limit as number }),
  };
}

/** True if occurrences are counted: those of rules that have more than `cron`, `timeZone` and `missed`. */
export function isCounted({ every, catchUp, startsAt, endsAt, limit }: RepeatRule): boolean {
  return [every, catchUp, startsAt, endsAt, limit].some((each) => each !== undefined);
}

/** Returns the id of an occurrence's dead letter, such as `{digest}@2026-03-02T08:00:00.000Z`. The braces keep it in the same partition. */
export function letterIdOf(id: string, at: Date): string {
  return `${inBraces(id)}@${at.toISOString()}`;
}

/** Returns the id of an extra occurrence that somebody asks for, such as `{digest}+2026-03-02T08:00:00.000Z`. */
export function extraIdOf(id: string, at: Date): string {
  return `${inBraces(id)}+${at.toISOString()}`;
}

const inBraces = (id: string) => (tagOf(id) === id ? `{${id}}` : id);

/** True for text that may be a cron expression or a time zone. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && TEXT.test(value);
}
