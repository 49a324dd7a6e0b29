import { AsyncResource } from 'node:async_hooks';

/**
 * The asynchronous context of one message: what a guard enters with `AsyncLocalStorage.enterWith()` holds for the steps after it,
 * and not for the consumer's loop, which goes on with other messages.
 *
 * A promise does not do for that: before an AsyncLocalStorage is first used, Node.js 20 and 22 keep no context for promises, and
 * what is entered behind one is entered for whatever happens to be running.
 */
export class AsyncContext {
  #left = new AsyncResource('DelayedMessage');

  /** Runs a step in the context that the one before has left. */
  run<T>(step: () => T): T {
    return this.#left.runInAsyncScope(() => {
      try {
        return step();
      } finally {
        this.#left = new AsyncResource('DelayedMessage');
      }
    });
  }
}
