import type { Clock } from '../../timing/clock.js';
import type { Doorbell } from '../consumer-store.js';

type EndWait = (rang: boolean) => void;

/** The doorbells of one queue: a ring wakes the one that waits longest; with none waiting, one ring is kept for the next. */
export class MemoryDoorbells {
  readonly #waiting = new Set<EndWait>();
  #kept = false;

  constructor(private readonly clock: Clock) {}

  ring(): void {
    const [longest] = this.#waiting;
    if (longest) longest(true);
    else this.#kept = true;
  }

  open(): Doorbell {
    const waits = new Set<EndWait>();
    let closed = false;
    return {
      wait: (timeout) => (closed ? Promise.resolve(false) : this.#wait(timeout, waits)),
      // A ring that nobody waits for is kept for anyone.
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
      const end: EndWait = (rang) => {
        cancelTimer();
        waits.delete(end);
        this.#waiting.delete(end);
        resolve(rang);
      };
      const cancelTimer = this.clock.schedule(() => end(false), timeout);
      waits.add(end);
      this.#waiting.add(end);
    });
  }
}
