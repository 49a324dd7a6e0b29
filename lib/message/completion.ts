import { isObservable, lastValueFrom } from 'rxjs';
import { follow } from './failure.js';

/**
 * Returns a promise that resolves when a handler's result is complete, or the result itself if there is nothing to wait for, because a
 * promise for each message is costly. An Observable completes with its last value, if any. Throws what inspecting the result throws.
 */
export function completionOf(result: unknown): unknown {
  const completion = isObservable(result) ? lastValueFrom(result, { defaultValue: undefined }) : result;
  // A thenable may settle several times, or throw; a promise does neither.
  return isPromiseLike(completion) ? Promise.resolve(completion) : completion;
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function';
}

interface TimeLimit {
  /** Runs the task once after `delay` ms; the returned function cancels it. */
  readonly clock: { schedule(task: () => void, delay: number): () => void };
  /** ms; null: no limit. */
  readonly timeout: number | null;
  /** Makes the rejection's error. Must not throw. */
  readonly onTimeout: (timeout: number) => Error;
}

/** Settles like a promise from application code, but rejects if that takes too long. */
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
