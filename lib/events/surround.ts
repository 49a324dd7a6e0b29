/** Is told what a hook threw. */
export type Complain = (error: unknown) => void;

/**
 * Does some work inside a hook of the application, which is to call `next`. Whatever the hook does, the work is done, once, and its
 * result counts: if the hook throws, forgets `next`, or calls it twice, too. If it calls `next` only after a while, the work waits
 * for that.
 *
 * @param work - must not throw, but for an argument that it refuses, before it has done anything
 * @param complain - is told what the hook throws by itself; that the work failed is no fault of the hook
 */
export function surround<Argument, Result>(
  hook: (next: (argument?: Argument) => Result | Promise<Result>) => unknown,
  work: (argument?: Argument) => Result | Promise<Result>,
  complain: Complain,
): Result | Promise<Result> {
  let done: { readonly result: Result | Promise<Result> } | undefined;
  let onDone: (result: Result | Promise<Result>) => void = () => undefined;
  let hasFailed = false;
  const next = (argument?: Argument) => {
    if (!done) {
      done = { result: work(argument) };
      if (done.result instanceof Promise) done.result.catch(() => (hasFailed = true));
      onDone(done.result);
    }
    return done.result;
  };
  let ended: Promise<unknown> | undefined;
  try {
    const returned = hook(next);
    if (isThenable(returned)) ended = Promise.resolve(returned);
  } catch (error) {
    complain(error);
  }
  if (!ended) return next();
  const checked = ended.catch((error: unknown) => {
    if (!hasFailed) complain(error);
  });
  if (done) return done.result;
  return new Promise((resolve) => {
    onDone = resolve;
    void checked.then(() => resolve(next()));
  });
}

function isThenable(value: unknown): boolean {
  return typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function';
}
