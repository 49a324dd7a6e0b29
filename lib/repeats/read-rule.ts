import { DelayQueueError } from '../message/delay-queue-errors.js';
import { dueAt, MAX_DELAY, parseDuration } from '../message/duration.js';
import { readWholeNumber } from '../message/read-fields.js';
import { isText, type RepeatRule } from '../message/repeat-rule.js';
import { showGiven } from '../message/show-given.js';

/** A rule as somebody has given it; its fields are not checked yet. */
type GivenRule = { readonly [Field in keyof RepeatRule]?: unknown };

export const RULE_FIELDS: readonly (keyof RepeatRule)[] = [
  ...(['cron', 'timeZone', 'every', 'missed', 'catchUp', 'startsAt', 'endsAt', 'limit'] as const),
];

const MISSED: readonly unknown[] = ['once', 'skip', 'each'] satisfies RepeatRule['missed'][];

/** The shortest interval: that of a calendar with seconds, ms. */
const INTERVALS = { min: 1000, max: MAX_DELAY };
const CATCH_UP = { min: 60_000, max: MAX_DELAY };
const DEFAULT_CATCH_UP = 24 * 60 * 60 * 1000;
const MAX_LIMIT = 1_000_000_000;

/** Checks a rule, except for the content of `cron`; throws `INVALID_ARGUMENT`. */
export function readRule(given: GivenRule): RepeatRule {
  const { missed = 'once', startsAt, endsAt, limit } = given;
  if (!MISSED.includes(missed)) throw invalid(`missed must be 'once', 'skip' or 'each', not ${showGiven(missed)}`);
  const rule = {
    ...readTimes(given),
    missed: missed as RepeatRule['missed'],
    ...readCatchUp(given),
    ...(startsAt !== undefined && { startsAt: new Date(dueAt(startsAt as Date, 'startsAt').at) }),
    ...(endsAt !== undefined && { endsAt: new Date(dueAt(endsAt as Date, 'endsAt').at) }),
    ...(limit !== undefined && { limit: readWholeNumber('limit', limit, [1, MAX_LIMIT]) }),
  };
  if (rule.startsAt && rule.endsAt && rule.endsAt < rule.startsAt) throw invalid('endsAt must not be before startsAt');
  return rule;
}

function readTimes({ cron, every, timeZone }: GivenRule): Pick<RepeatRule, 'cron' | 'every' | 'timeZone'> {
  if ((cron === undefined) === (every === undefined)) {
    const has = cron === undefined ? 'neither' : 'both';
    throw invalid(`a rule must have either cron, such as '0 9 * * 1-5', or every, such as '15m', but it has ${has}`);
  }
  if (every !== undefined) {
    if (timeZone !== undefined) throw invalid('timeZone goes with cron; with every, startsAt says when it begins');
    return { every: readLength('every', every, INTERVALS) };
  }
  if (!isText(cron)) throw invalid(`cron must be text such as '0 9 * * 1-5', not ${showGiven(cron)}`);
  if (timeZone === undefined) return { cron, timeZone: 'UTC' };
  if (isText(timeZone)) return { cron, timeZone };
  throw invalid(`timeZone must be an IANA time zone such as 'Europe/Berlin', not ${showGiven(timeZone)}`);
}

function readCatchUp({ missed, catchUp }: GivenRule): Pick<RepeatRule, 'catchUp'> {
  if (missed === 'each') return { catchUp: readLength('catchUp', catchUp ?? DEFAULT_CATCH_UP, CATCH_UP) };
  if (catchUp === undefined) return {};
  throw invalid("catchUp goes with missed: 'each'");
}

function readLength(name: string, given: unknown, range: { min: number; max: number }): number {
  const parsed = parseDuration(given, range);
  if ('problem' in parsed) throw invalid(`${name} ${parsed.problem}`);
  return parsed.milliseconds;
}

const invalid = (problem: string) => new DelayQueueError('INVALID_ARGUMENT', problem);
