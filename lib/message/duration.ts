import ms from 'ms';
import { DelayQueueError } from './delay-queue.errors.js';
import { showGiven } from './show-given.js';

/**
 * A length of time: milliseconds as a whole number, or text with a unit as the `ms` package reads it
 * (`'250ms'`, `'30s'`, `'10m'`, `'2h'`, `'7 days'`).
 *
 * It is deliberately not a template-literal type: durations mostly come from configuration, where a plain `string` is
 * all one has. A unit that does not exist fails at run time, with an error naming the field.
 */
export type Duration = number | string;

/** The longest delay that is accepted: 100 years as `ms` counts them, beyond which a mistaken unit is the likelier story. */
export const LONGEST_DELAY = 100 * 365.25 * 24 * 60 * 60 * 1000;

/** Why a value is not a duration within the range, or the milliseconds it stands for. */
export type ParsedDuration = { milliseconds: number } | { problem: string };

/**
 * Reads a duration.
 *
 * @param value - what the user gave, of whatever type
 * @param range - inclusive bounds in milliseconds
 */
export function parseDuration(value: unknown, range: { min: number; max: number }): ParsedDuration {
  const milliseconds = toMilliseconds(value);
  if (milliseconds === undefined) {
    return {
      problem: `is not a duration: give milliseconds or text such as '30s', '10m' or '2h', not ${showGiven(value)}`,
    };
  }
  if (!Number.isSafeInteger(milliseconds)) {
    return { problem: `must be a whole number of milliseconds, not ${showGiven(value)}` };
  }
  if (milliseconds < range.min || milliseconds > range.max) {
    return { problem: `must lie between ${range.min} ms and ${range.max} ms, not ${showGiven(value)}` };
  }
  return { milliseconds };
}

/**
 * Reads the delay of a message.
 *
 * @returns milliseconds
 * @throws DelayQueueError `INVALID_ARGUMENT`
 */
export function readDelay(delay: Duration): number {
  const parsed = parseDuration(delay, { min: 0, max: LONGEST_DELAY });
  if ('problem' in parsed) throw new DelayQueueError('INVALID_ARGUMENT', `delay ${parsed.problem}`);
  return parsed.milliseconds;
}

function toMilliseconds(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isNaN(value) ? undefined : value;
  // `ms` throws on the empty string and on more than 100 characters.
  if (typeof value !== 'string' || value.length === 0 || value.length > 100) return undefined;
  return ms(value as ms.StringValue);
}
