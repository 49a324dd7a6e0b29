import { nextTick as processNextTick } from 'node:process';
import * as timers from 'node:timers';

/*
 * The turns of the event loop, as Node.js takes them. Fake timers of a test framework replace the globals; a call that waits for
 * the end of its turn would then hang until the test moves the time. The time itself is theirs to fake: see `clock.ts`.
 */

export const { setImmediate } = timers;
export const nextTick = processNextTick;

const done = Promise.resolve();

/** Runs `task` when the code that is running now gives way. It must not throw. */
export function queueMicrotask(task: () => void): void {
  void done.then(task);
}
