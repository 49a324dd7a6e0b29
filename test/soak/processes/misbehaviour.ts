/** What handlers of users do, too. */

/** Lets nothing else happen in this process for so many ms, and burns nothing. */
export function block(length: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, length);
}

/** @returns what throws when somebody looks at what it says; another one for another number */
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

/** @returns a thenable that says twice how the work ended; with an odd number, the second time that it failed */
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
