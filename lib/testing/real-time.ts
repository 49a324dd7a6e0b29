import { performance } from 'node:perf_hooks';
import * as timers from 'node:timers';

/*
 * The time of the world outside, as Node.js has it when this is loaded: fake timers of a test framework replace the globals, and
 * what waits for a handler that is busy with a file or a socket must wait nevertheless.
 */

export const { setTimeout, clearTimeout } = timers;

/** Milliseconds since an arbitrary start. */
export const realNow: () => number = performance.now.bind(performance);

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Whether the globals are those of jest's, vitest's or sinon's fake timers, which mark them so. */
export function areTimersFake(): boolean {
  return 'clock' in globalThis.setTimeout;
}
