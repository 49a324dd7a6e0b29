import ms from 'ms';
import { DelayQueueError } from './delay-queue-errors.js';
import { showGiven } from './show-given.js';

/**
 * A length of time: a whole number of milliseconds, or text with a unit in the notation of the `ms` package
 * (`'250ms'`, `'30s'`, `'10m'`, `'2h'`, `'7 days'`).
 *
 * The type allows any text, because many durations come from configuration. An unknown unit fails at run time with an error that
 * names the field; if it is written out as an argument, it does not compile ({@link CheckedDuration}).
 */
export type Duration = number | string;

/** Milliseconds, or a number and a unit. */
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
 * A duration given as an argument. Text that is written out must be a number and a unit, or it does not compile. Text that is
 * known only at run time, such as from configuration, needs no cast.
 *
 * @typeParam Given - the type of what was given
 */
export type CheckedDuration<Given extends Duration> = Given extends number | DurationText
  ? Given
  : // Only if the text is not written out does a record of it have an index signature. `Readonly` keeps TypeScript from
    // comparing the two records by their arguments.
    Record<string, 0> extends Readonly<Record<Given, 0>>
    ? Given
    : Lowercase<Given & string> extends DurationText
      ? Given
      : // What the compiler shows of a mistake: all the units would be too many to read.
        `${number}${'ms' | 's' | 'm' | 'h' | 'd' | 'w' | 'y'}`;

/** The longest accepted delay, ms: 100 years as `ms` counts them. Anything longer is more likely a wrong unit. */
export const LONGEST_DELAY = 100 * 365.25 * 24 * 60 * 60 * 1000;

const DELAYS = { min: 0, max: LONGEST_DELAY };

/** The milliseconds that a value stands for, or why it is not a duration within the range. */
export type ParsedDuration = { milliseconds: number } | { problem: string };

/**
 * Reads a duration.
 *
 * @param value - what the user gave, of any type
 * @param range - inclusive bounds, ms
 */
export function parseDuration(value: unknown, range: { min: number; max: number }): ParsedDuration {
  const milliseconds = toMilliseconds(value);
  if (milliseconds === undefined) {
    return {
      problem: `is not a duration: use milliseconds or text such as '30s', '10m' or '2h', not ${showGiven(value)}`,
    };
  }
  if (!Number.isSafeInteger(milliseconds)) {
    return { problem: `must be a whole number of milliseconds, not ${showGiven(value)}` };
  }
  if (milliseconds < range.min || milliseconds > range.max) {
    return { problem: `must be between ${range.min} ms and ${range.max} ms, not ${showGiven(value)}` };
  }
  return { milliseconds };
}

/** Reads the delay of a message, of whatever type it is. */
export function parseDelay(value: unknown): ParsedDuration {
  return parseDuration(value, DELAYS);
}

/**
 * Reads the delay of a message: 0 ms – 100 years.
 *
 * @returns milliseconds
 * @throws DelayQueueError `INVALID_ARGUMENT`
 */
export function readDelay(delay: Duration): number {
  const parsed = parseDelay(delay);
  if ('problem' in parsed) throw new DelayQueueError('INVALID_ARGUMENT', `delay ${parsed.problem}`);
  return parsed.milliseconds;
}

/**
 * Reads the longest wait of a debounced message: 1 ms – 100 years.
 *
 * @returns milliseconds
 * @throws DelayQueueError `INVALID_ARGUMENT`
 */
export function readMaxWait(maxWait: Duration): number {
  const parsed = parseDuration(maxWait, { min: 1, max: LONGEST_DELAY });
  if ('problem' in parsed) throw new DelayQueueError('INVALID_ARGUMENT', `maxWait ${parsed.problem}`);
  return parsed.milliseconds;
}

function toMilliseconds(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isNaN(value) ? undefined : value;
  // `ms` throws on the empty string and on more than 100 characters.
  if (typeof value !== 'string' || value.length === 0 || value.length > 100) return undefined;
  return ms(value as ms.StringValue);
}
