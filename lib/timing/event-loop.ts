import { nextTick as processNextTick } from 'node:process';
import * as timers from 'node:timers';

/*
 * The turns of the event loop, from Node.js itself. Fake timers of a test framework replace the globals; a call that waits for the end of
 * its turn would hang until the test advances the time. They may still fake the time itself: see `clock.ts`.
 */

export const { setImmediate, clearImmediate } = timers;
export const nextTick = processNextTick;

const done = Promise.resolve();

/** Runs `task` once the code that is running now has finished. It must not throw. */
export function queueMicrotask(task: () => void): void {
  void done.then(task);
}
