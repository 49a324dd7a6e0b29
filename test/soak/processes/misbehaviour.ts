/** Misbehaviour that real handlers show. */

/** @returns an error that throws when it is read; which property does so depends on the number */
export function unspeakable(number: number): unknown {
  const property = (['message', 'stack', 'name', 'proxy'] as const)[Math.floor(number / 1024) % 4]!;
  if (property === 'proxy') {
    const { proxy, revoke } = Proxy.revocable(new Error('planned'), {});
    revoke();
    return proxy;
  }
  return Object.defineProperty(new Error('planned'), property, {
    get: () => {
      throw new Error(`nobody may read the ${property}`);
    },
  });
}

/** @returns a thenable that reports the end of the work twice; for some numbers, the second time as a failure */
export function callingBackTwice<T>(work: Promise<T>, number: number): PromiseLike<T> {
  const then: PromiseLike<T>['then'] = (onFulfilled, onRejected) => {
    const fulfil = (value: T) => {
      void onFulfilled?.(value);
      if (Math.floor(number / 1024) % 2 === 1) void onRejected?.(new Error('on second thoughts'));
      else void onFulfilled?.(value);
    };
    const reject = (reason: unknown) => {
      void onRejected?.(reason);
      void onFulfilled?.(undefined as T);
    };
    void work.then(fulfil, reject);
    return Promise.resolve() as never;
  };
  return { then };
}
