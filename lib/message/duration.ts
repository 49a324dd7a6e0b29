import ms from 'ms';
import { DelayQueueError } from './delay-queue-errors.js';
import { showGiven } from './show-given.js';
import { types } from 'node:util';

/**
 * A length of time: a whole number of milliseconds, or text with a unit in the notation of the `ms` package (`'250ms'`, `'30s'`, `'10m'`,
 * `'2h'`, `'7 days'`). `'1M'` is refused, because it could mean a minute or a month.
 *
 * The type allows any text, because many durations come from configuration. An unknown unit fails at run time with an error that names the
 * field; in a literal argument, it does not even compile ({@link CheckedDuration}).
 */
export type Duration = number | string;

/** A number of milliseconds, or a number and a unit. */
export type DurationText = `${number}${
  | ''
  | `${'' | ' '}${
      | ('ms' | 'msec' | 'msecs' | 'millisecond' | 'milliseconds')
      | ('s' | 'sec' | 'secs' | 'second' | 'seconds')
      | ('m' | 'min' | 'mins' | 'minute' | 'minutes')
      | ('h' | 'hr' | 'hrs' | 'hour' | 'hours')
      | ('d' | 'day' | 'days')
      | ('w' | 'week' | 'weeks')
      | ('y' | 'yr' | 'yrs' | 'year' | 'years')}`}`;

/**
 * A duration given as an argument. A literal compiles only if it is a number with or without a unit. Text known only at run time, for
 * instance from configuration, needs no cast.
 * @typeParam Given - the type of the argument
 */
export type CheckedDuration<Given extends Duration> = Given extends number | DurationText
  ? Given
  : // Only a record of text that is not a literal has an index signature. `Readonly` keeps TypeScript from
    // comparing the two records by their type arguments.
    Record<string, 0> extends Readonly<Record<Given, 0>>
    ? Given
    : (Given extends `${string}M` ? 'minutes or months' : Lowercase<Given & string>) extends DurationText
      ? Given
      : // Shown by the compiler for a mistake: all the units would be too many to read.
        `${number}${'ms' | 's' | 'm' | 'h' | 'd' | 'w' | 'y'}`;

/** The maximum delay, ms: 100 years by the `ms` package's reckoning. A longer delay is more likely a mistake in the unit. */
export const MAX_DELAY = 100 * 365.25 * 24 * 60 * 60 * 1000;

const HOW_TO_WRITE =
  "use milliseconds or text such as '30s', '10m' or '2h', with one of the units ms, s, m (minutes), h, d, w, y";

/** The units used for bounds in error messages, longest first, with their lengths in ms. */
const UNITS: readonly (readonly [length: number, name: string])[] = [
  [MAX_DELAY / 100, 'years'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
  [1, 'ms'],
];

const DELAYS = { min: 0, max: MAX_DELAY };

/** A value in milliseconds, or the reason why it is not a duration within the range. */
type ParsedDuration = { milliseconds: number } | { problem: string };

/** Reads a value of any type as a duration within inclusive bounds, in ms. */
export function parseDuration(value: unknown, range: { min: number; max: number }): ParsedDuration {
  const milliseconds = toMilliseconds(value);
  if (milliseconds === undefined) return { problem: `is not a duration: ${HOW_TO_WRITE}, not ${showGiven(value)}` };
  if (!Number.isSafeInteger(milliseconds)) {
    return { problem: `must be a whole number of milliseconds, not ${showGiven(value)}` };
  }
  if (milliseconds < range.min || milliseconds > range.max) {
    const isBare = typeof value === 'string' && /\d$/.test(value);
    const given = `${showGiven(value)}${isBare ? `, which is ${milliseconds} ms: add a unit` : ''}`;
    return { problem: `must be between ${showLength(range.min)} and ${showLength(range.max)}, not ${given}` };
  }
  return { milliseconds };
}

/** Reads a value of any type as the delay of a message. */
export function parseDelay(value: unknown): ParsedDuration {
  return parseDuration(value, DELAYS);
}

/** Reads a message's delay, 0 ms – 100 years, as ms, or throws `INVALID_ARGUMENT`. */
export function readDelay(delay: Duration): number {
  const milliseconds = toMilliseconds(delay);
  if (Number.isSafeInteger(milliseconds) && milliseconds! >= DELAYS.min && milliseconds! <= DELAYS.max)
    return milliseconds!;
  const { problem } = parseDelay(delay) as { problem: string };
  throw new DelayQueueError('INVALID_ARGUMENT', `delay ${problem}`);
}

/** Reads a debounced message's `maxWait`, 1 ms – 100 years, as ms, or throws `INVALID_ARGUMENT`. */
export function readMaxWait(maxWait: Duration): number {
  const parsed = parseDuration(maxWait, { min: 1, max: MAX_DELAY });
  if ('problem' in parsed) throw new DelayQueueError('INVALID_ARGUMENT', `maxWait ${parsed.problem}`);
  return parsed.milliseconds;
}

function showLength(milliseconds: number): string {
  const [length, name] = UNITS.find(([each]) => milliseconds >= each && milliseconds % each === 0) ?? [1, 'ms'];
  return `${milliseconds / length} ${name}`;
}

function toMilliseconds(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isNaN(value) ? undefined : value;
  // `ms` throws on the empty string and on more than 100 characters.
  if (typeof value !== 'string' || value.length === 0 || value.length > 100) return undefined;
  if (value === latest.text) return latest.milliseconds;
  // `ms` ignores case, but elsewhere M means months.
  latest = { text: value, milliseconds: value.endsWith('M') ? undefined : ms(value as ms.StringValue) };
  return latest.milliseconds;
}

/** The last string parsed, kept because a process offers most of its messages with the same delay. */
let latest: { readonly text: string; readonly milliseconds: number | undefined } = {
  text: '',
  milliseconds: undefined,
};

/** When a message falls due: after a number of ms, or at a given time; both by the store's clock. */
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

/** Reads either a delay or a time; throws `INVALID_ARGUMENT` if neither or both are given. */
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

/** The latest time that a `Date` can represent, ms. */
const LAST_DATE = 8.64e15;

/** Converts a time in ms to a `Date`. A time out of range, which only other software can have stored, becomes the nearest date. */
export function dateOf(instant: number): Date {
  return new Date(Math.min(Math.max(instant, 0), LAST_DATE));
}
