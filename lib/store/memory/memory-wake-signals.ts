import type { Clock } from '../../timing/clock.js';
import type { WakeSignal } from '../consumer-store.js';

type EndWait = (isAwake: boolean) => void;

/** The wake-up signals of one queue. Each wakes the consumer that has waited longest; if none waits, one signal is kept. */
export class MemoryWakeSignals {
  readonly #waiting = new Set<EndWait>();
  #kept = false;

  constructor(private readonly clock: Clock) {}

  wake(): void {
    const [longest] = this.#waiting;
    if (longest) longest(true);
    else this.#kept = true;
  }

  open(): WakeSignal {
    const waits = new Set<EndWait>();
    let closed = false;
    return {
      wait: (timeout) => (closed ? Promise.resolve(false) : this.#wait(timeout, waits)),
      // Signals go only to pending waits, so one that comes later is kept for anyone.
      leave: () => waits.forEach((end) => end(false)),
      close: () => {
        closed = true;
        waits.forEach((end) => end(false));
        return Promise.resolve();
      },
    };
  }

  #wait(timeout: number, waits: Set<EndWait>): Promise<boolean> {
    if (this.#kept) {
      this.#kept = false;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const end: EndWait = (isAwake) => {
        cancelTimer();
        waits.delete(end);
        this.#waiting.delete(end);
        resolve(isAwake);
      };
      const cancelTimer = this.clock.schedule(() => end(false), timeout);
      waits.add(end);
      this.#waiting.add(end);
    });
  }
}
