import { existsSync, readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** The statistics of Linux for the main thread. */
const MAIN_THREAD = `/proc/self/task/${process.pid}/schedstat`;
const isKnown = existsSync(MAIN_THREAD);

/** The processor time that this process has used, ms: of the main thread where that is known, or of all threads. */
function processorTime(): number {
  if (isKnown) return Number(readFileSync(MAIN_THREAD, 'utf8').split(' ')[0]) / 1e6;
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Measures the turns of the event loop in processor time, which hardly depends on what else the machine does. */
export class TurnWatch {
  #longest = 0;
  #isOver = false;

  /** Resolves when the first turn has begun. */
  async begin(): Promise<void> {
    await nextTurn();
    void this.#watch();
  }

  /** @returns how long the longest turn took, ms */
  end(): number {
    this.#isOver = true;
    return this.#longest;
  }

  async #watch(): Promise<void> {
    for (let last = processorTime(); !this.#isOver;) {
      await nextTurn();
      const now = processorTime();
      this.#longest = Math.max(this.#longest, now - last);
      last = now;
    }
  }
}
