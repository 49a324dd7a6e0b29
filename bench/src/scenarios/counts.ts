import { setTimeout as sleep } from 'node:timers/promises';
import type { SystemProcess } from '../process/system-process.js';

const POLL = 250;
/** Longer than any system here waits between two looks at its queue, ms. */
const QUIET = 5_000;

/** @returns how many messages each consumer has handled, once none has handled another for a while */
export async function countsOnceQuiet(consumers: readonly SystemProcess[]): Promise<number[]> {
  let counts = await countsOf(consumers);
  for (let quietSince = performance.now(); performance.now() - quietSince < QUIET;) {
    await sleep(POLL);
    const now = await countsOf(consumers);
    if (sum(now) !== sum(counts)) quietSince = performance.now();
    counts = now;
  }
  return counts;
}

export async function countsOf(consumers: readonly SystemProcess[]): Promise<number[]> {
  const looks = await Promise.all(consumers.map((consumer) => consumer.ask('look')));
  return looks.map(({ count }) => count);
}

export const sum = (numbers: readonly number[]) => numbers.reduce((all, each) => all + each, 0);
