import { DelayQueueError } from '../message/delay-queue-errors.js';
import { type Duration, MAX_DELAY, parseDuration } from '../message/duration.js';
import { readFields } from '../message/read-fields.js';
import { showGiven } from '../message/show-given.js';

/** Limits for a call that moves time. */
export interface CallBounds {
  /** The maximum number of attempts that end in the call. Stops a handler that always causes another message. Default: 10,000. */
  readonly limit?: number | undefined;
  /** How long handlers may run in real time without any attempt ending. Default: `'4s'`, less than test frameworks give a test. */
  readonly patience?: Duration | undefined;
}

/** {@link CallBounds} with the defaults filled in, and durations in ms. */
export type ResolvedBounds = Readonly<Record<keyof CallBounds, number>>;

const LIMIT = 10_000;
const PATIENCE = 4000;
const FIELDS: readonly (keyof CallBounds)[] = ['limit', 'patience'];

export function readBounds(given: CallBounds): ResolvedBounds {
  const { limit = LIMIT, patience } = readFields(given, 'options', FIELDS);
  return { limit: readCount('limit', limit), patience: readPatience(patience) };
}

export function readPatience(patience: Duration = PATIENCE): number {
  return readLength('patience', patience, 1);
}

export function readLength(name: string, duration: Duration, min = 0): number {
  const parsed = parseDuration(duration, { min, max: MAX_DELAY });
  if ('problem' in parsed) throw new DelayQueueError('INVALID_ARGUMENT', `${name} ${parsed.problem}`);
  return parsed.milliseconds;
}

export function readCount(name: string, count: number): number {
  if (Number.isSafeInteger(count) && count >= 1) return count;
  throw new DelayQueueError('INVALID_ARGUMENT', `${name} must be a whole number from 1, not ${showGiven(count)}`);
}
