import { DelayQueueError } from './delay-queue-errors.js';
import { showGiven } from './show-given.js';

/** The maximum number of a group's permits. */
export const MAX_CONCURRENCY = 1_000_000;

/** The same for groups with a rate: every message with a permit may have to wait for the rate, each on its own. */
export const MAX_CONCURRENCY_WITH_RATE = 1000;

/** @throws DelayQueueError `INVALID_ARGUMENT` unless a group of a queue with these rules may have this concurrency of its own */
export function assertGroupConcurrency(value: unknown, { rate }: { readonly rate?: object | null }): void {
  const most = rate ? MAX_CONCURRENCY_WITH_RATE : MAX_CONCURRENCY;
  if (value === 'default' || (value === 'unlimited' && !rate)) return;
  if (Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most) return;
  const rule = rate
    ? `must be a whole number from 1 to ${most}, because groups have a rate, or 'default'`
    : "must be a whole number from 1 to 1,000,000, 'unlimited' or 'default'";
  throw new DelayQueueError('INVALID_ARGUMENT', `concurrency: ${rule}, such as 3, not ${showGiven(value)}`);
}
