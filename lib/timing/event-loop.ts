import { nextTick as processNextTick } from 'node:process';
import * as timers from 'node:timers';
import type { Clock } from './clock.js';

/*
 * The event loop's turns, taken from Node.js itself. Test frameworks' fake timers replace the globals, and a call that waits for the end of
 * its turn would then hang until the test advances the time. Fake timers may still fake the time itself: see `clock.ts`.
 */

export const { setImmediate, clearImmediate } = timers;
export const nextTick = processNextTick;

const done = Promise.resolve();

/** Runs `task` once the current code has finished. `task` must not throw. */
export function queueMicrotask(task: () => void): void {
  void done.then(task);
}

/** How long work may be started in one turn of the event loop, ms. Started work continues in that turn, and takes several times as long. */
const SLICE = 3;

/** Calls `work` with each of many items, and yields to the event loop in between. The first slice runs at once. */
export async function inSlices<Item>(
  items: Iterable<Item>,
  clock: Pick<Clock, 'monotonic'>,
  work: (item: Item) => void,
): Promise<void> {
  let end = clock.monotonic() + SLICE;
  for (const item of items) {
    if (clock.monotonic() >= end) {
      await new Promise((resolve) => setImmediate(resolve));
      end = clock.monotonic() + SLICE;
    }
    work(item);
  }
}

/** Like `Promise.all`, but yields to the event loop while starting the work. */
export async function allInSlices<Item>(
  items: Iterable<Item>,
  clock: Pick<Clock, 'monotonic'>,
  begin: (item: Item) => Promise<void>,
): Promise<void> {
  const begun: Promise<void>[] = [];
  await inSlices(items, clock, (item) => {
    const work = begin(item);
    // The work may fail before anything awaits it.
    work.catch(() => undefined);
    begun.push(work);
  });
  await Promise.all(begun);
}
