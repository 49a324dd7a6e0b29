import { follow } from '../message/failure.js';
import type { Clock } from '../timing/clock.js';
import { HandlerTimeout } from './delivery.js';

export interface TimeLimit {
  readonly clock: Clock;
  /** How long a handler may run, ms; null: no limit. */
  readonly timeout: number | null;
  /** Called when it has run for longer; must not throw. */
  readonly onTimeout: (reason: HandlerTimeout) => void;
}

/** Follows a running handler, and rejects with a {@link HandlerTimeout} if it takes too long. */
export function withinTimeout(
  completion: Promise<unknown>,
  { clock, timeout, onTimeout }: TimeLimit,
): Promise<unknown> {
  if (timeout === null) return completion;
  return new Promise<unknown>((resolve, reject) => {
    const cancelTimer = clock.schedule(() => {
      const reason = new HandlerTimeout(`The handler took longer than its timeout of ${timeout} ms`);
      reject(reason);
      onTimeout(reason);
    }, timeout);
    void follow(completion, { onDone: resolve, onFailed: reject }).finally(cancelTimer);
  });
}
