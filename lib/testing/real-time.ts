import { performance } from 'node:perf_hooks';
import * as timers from 'node:timers';

/*
 * Real timers, as Node.js has them when this file is loaded. A test framework's fake timers replace the globals, but a wait for a handler
 * that is busy with a file or a socket must take real time.
 */

export const { setTimeout, clearTimeout } = timers;

/** Milliseconds since an arbitrary start. */
export const realNow: () => number = performance.now.bind(performance);

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** True if the globals are the fake timers of Jest, Vitest or Sinon, which mark them as fake. */
export function areTimersFake(): boolean {
  return 'clock' in globalThis.setTimeout;
}
