import ms from 'ms';
import { DelayQueueError } from './delay-queue.errors.js';
import { showGiven } from './show-given.js';

/**
 * A length of time: a whole number of milliseconds, or text with a unit in the notation of the `ms` package
 * (`'250ms'`, `'30s'`, `'10m'`, `'2h'`, `'7 days'`).
 *
 * This is deliberately not a template-literal type: durations mostly come from configuration, which has plain strings. An
 * unknown unit fails at run time, with an error that names the field.
 */
export type Duration = number | string;

/** The longest accepted delay, ms: 100 years as `ms` counts them. Anything longer is more likely a wrong unit. */
export const LONGEST_DELAY = 100 * 365.25 * 24 * 60 * 60 * 1000;

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
  return parseDuration(value, { min: 0, max: LONGEST_DELAY });
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

function toMilliseconds(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isNaN(value) ? undefined : value;
  // `ms` throws on the empty string and on more than 100 characters.
  if (typeof value !== 'string' || value.length === 0 || value.length > 100) return undefined;
  return ms(value as ms.StringValue);
}
