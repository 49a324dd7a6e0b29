import { isThenable } from '../message/failure.js';
import { isIterator, UnusedIterator } from '../message/handler-results.js';
import type { CancelTimer, Clock } from '../timing/clock.js';

/** Called with an error that a hook threw. */
export type Complain = (error: unknown) => void;

export interface HookOwner {
  readonly name: string;
  /** Called with errors that the hook itself throws, but not with a failure of the work. */
  readonly complain: Complain;
  readonly clock: Pick<Clock, 'schedule'>;
}

/** How long a hook may delay the start of the work. */
export interface HookLimit<Result> {
  /** ms; null: no limit. */
  readonly timeout: number | null;
  /** Makes the result if the hook takes too long, given the owner's name; the work is then never done. Must not throw. */
  readonly onTimeout: (owner: string, timeout: number) => Result | Promise<Result>;
}

/**
 * Runs some work inside an application's hook, which is expected to call `next`. The work runs once, and its result counts, even if the
 * hook throws, never calls `next`, or calls it twice. If the hook is slow to call `next`, the work waits, but no longer than the limit.
 * Nothing waits for what the hook does after `next`.
 * @param work - must not throw, except to refuse its argument before it has done anything
 * @param limit - default: no limit
 */
export function surround<Argument, Result>(
  hook: (next: (argument?: Argument) => Result | Promise<Result>) => unknown,
  work: (argument?: Argument) => Result | Promise<Result>,
  owner: HookOwner,
  limit?: HookLimit<Result>,
): Result | Promise<Result> {
  let done: { readonly result: Result | Promise<Result> } | undefined;
  let onDone: (result: Result | Promise<Result>) => void = () => undefined;
  let hasFailed = false;
  const end = (result: Result | Promise<Result>) => {
    done = { result };
    if (result instanceof Promise) result.catch(() => (hasFailed = true));
    onDone(result);
    return result;
  };
  const next = (argument?: Argument) => (done ? done.result : end(work(argument)));
  let ended: Promise<unknown> | undefined;
  try {
    const returned = hook(next);
    if (isThenable(returned)) ended = Promise.resolve(returned);
    else refuseIterator(returned);
  } catch (error) {
    owner.complain(error);
  }
  if (!ended) return next();
  const checked = ended.then(refuseIterator).catch((error: unknown) => {
    if (!hasFailed) owner.complain(error);
  });
  if (done) return done.result;
  return new Promise((resolve) => {
    const stopWaiting = atTheEndOf(limit, owner, end);
    onDone = (result) => {
      stopWaiting?.();
      resolve(result);
    };
    void checked.then(() => void next());
  });
}

/** Throws {@link UnusedIterator} if the hook is a generator compiled to a plain function. */
function refuseIterator(returned: unknown): void {
  if (isIterator(returned)) throw new UnusedIterator('it');
}

function atTheEndOf<Result>(
  limit: HookLimit<Result> | undefined,
  { name, clock }: HookOwner,
  end: (result: Result | Promise<Result>) => unknown,
): CancelTimer | undefined {
  const timeout = limit?.timeout ?? null;
  return timeout === null ? undefined : clock.schedule(() => end(limit!.onTimeout(name, timeout)), timeout);
}
