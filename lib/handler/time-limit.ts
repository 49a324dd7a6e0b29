import { follow } from '../message/failure.js';
import type { Clock } from '../timing/clock.js';

export interface TimeLimit {
  readonly clock: Pick<Clock, 'schedule'>;
  /** ms; null: no limit. */
  readonly timeout: number | null;
  /** Gives the error to fail with when that has passed; must not throw. */
  readonly onTimeout: (timeout: number) => Error;
}

/** Follows what the application's code does, and rejects if it takes too long. */
export function withinTimeout(
  completion: Promise<unknown>,
  { clock, timeout, onTimeout }: TimeLimit,
): Promise<unknown> {
  if (timeout === null) return completion;
  return new Promise<unknown>((resolve, reject) => {
    const cancelTimer = clock.schedule(() => reject(onTimeout(timeout)), timeout);
    void follow(completion, { onDone: resolve, onFailed: reject }).finally(cancelTimer);
  });
}
