import type { RetryOptions, StoredBackoff } from 'nestjs-delay-queue';
import { invalid, readDuration, readFields } from './arguments.js';
import { shown } from './shown.js';

const FIELDS = ['type', 'delay', 'factor', 'maxDelay', 'jitter'] as const;

/** Reads the attempts and backoff of a message; leaves out what is not given. @throws DelayQueueError `INVALID_ARGUMENT` */
export function readRetries(given: { readonly attempts?: unknown; readonly backoff?: unknown }): RetryOptions {
  const { attempts, backoff } = given;
  return {
    ...(attempts !== undefined && { attempts: readAttempts(attempts) }),
    ...(backoff !== undefined && { backoff: readBackoff(backoff) }),
  };
}

function readAttempts(attempts: unknown): number {
  if (Number.isInteger(attempts) && (attempts as number) >= 1 && (attempts as number) <= 1_000_000)
    return attempts as number;
  throw invalid(`attempts must be a whole number from 1 to 1000000, not ${shown(attempts)}`);
}

function readBackoff(given: unknown): StoredBackoff {
  const { type, delay, factor, maxDelay, jitter } = readFields(given, 'backoff', FIELDS);
  const varied = jitter === undefined ? {} : { jitter: readNumber(jitter, 'jitter', [0, 1]) };
  if (type === 'fixed') {
    const misplaced = factor === undefined ? maxDelay !== undefined && 'maxDelay' : 'factor';
    if (misplaced) throw invalid(`backoff.${misplaced} goes with the type 'exponential'`);
    return { type, delay: readDuration(delay, 'backoff.delay', 0), ...varied };
  }
  if (type !== 'exponential') throw invalid(`backoff.type must be 'fixed' or 'exponential', not ${shown(type)}`);
  return {
    type,
    ...(delay !== undefined && { delay: readDuration(delay, 'backoff.delay', 0) }),
    ...(factor !== undefined && { factor: readNumber(factor, 'factor', [1, 100]) }),
    ...(maxDelay !== undefined && { maxDelay: readDuration(maxDelay, 'backoff.maxDelay', 0) }),
    ...varied,
  };
}

function readNumber(given: unknown, name: string, [min, max]: readonly [number, number]): number {
  if (typeof given === 'number' && given >= min && given <= max) return given;
  throw invalid(`backoff.${name} must be a number from ${min} to ${max}, not ${shown(given)}`);
}
