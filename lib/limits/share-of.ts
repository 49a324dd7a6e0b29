import type { Rate } from '../store/message-store.js';

/** Returns the rate of each of so many partitions: all of them together never exceed the queue's, unless it is less than 1 for each. */
export function shareOf(rate: Rate | null | undefined, partitions: number): Rate | null {
  return rate ? { ...rate, max: Math.max(1, Math.floor(rate.max / partitions)) } : null;
}
