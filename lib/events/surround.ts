import { isThenable } from '../message/failure.js';
import { isIterator, UnusedIterator } from '../message/handler-results.js';
import type { CancelTimer, Clock } from '../timing/clock.js';

/** Is told what a hook threw. */
export type Complain = (error: unknown) => void;

/** Whose hook it is. */
export interface HookOwner {
  /** For errors and the log. */
  readonly name: string;
  /** Is told what the hook throws by itself; that the work failed is no fault of the hook. */
  readonly complain: Complain;
  readonly clock: Pick<Clock, 'schedule'>;
}

/** How long a hook may keep the work waiting. */
export interface HookLimit<Result> {
  /** ms; null: no limit. */
  readonly timeout: number | null;
  /** Gives the result when that has passed, from the name of the hook's owner; the work is never done then. Must not throw. */
  readonly onTimeout: (owner: string, timeout: number) => Result | Promise<Result>;
}

/**
 * Does some work inside a hook of the application, which is expected to call `next`. The work is done once, and its result counts, even
 * if the hook throws, forgets `next`, or calls it twice. If the hook calls `next` late, the work waits for that, but no longer than its
 * limit. What the hook does after `next` is never waited for.
 *
 * @param work - must not throw, but for an argument that it refuses, before it has done anything
 * @param limit - default: there is none
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

/** @throws UnusedIterator if the hook is a generator, compiled to a plain function */
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
