import type { Delivery } from './deliver.js';

/** The pauses of a queue's offers, ms. The shortest is slightly longer than that of the rows that were refused. */
const MIN_PAUSE = 1100;
const MAX_PAUSE = 30_000;

interface Refusal {
  readonly pause: number;
  readonly until: number;
}

/**
 * Remembers which queues currently refuse offers, such as full ones. All their rows are left alone for a while: there may be many, and
 * trying them one by one would keep the relay from the rows of other queues.
 */
export class Refusals {
  readonly #queues = new Map<string, Refusal>();

  /** Returns the queues whose offers are currently left alone. */
  current(now: number): string[] {
    return [...this.#queues].filter(([, { until }]) => until > now).map(([queue]) => queue);
  }

  /** Milliseconds until one of them is tried again; undefined if there is none. */
  nextIn(now: number): number | undefined {
    const rests = [...this.#queues.values()].map(({ until }) => until - now).filter((rest) => rest > 0);
    return rests.length > 0 ? Math.min(...rests) : undefined;
  }

  note({ done, refusing }: Pick<Delivery, 'done' | 'refusing'>, now: number): void {
    // A queue that has accepted some offers has room from time to time.
    for (const { queue, operation } of done) if (operation.startsWith('offer')) this.#queues.delete(queue);
    for (const queue of refusing) {
      const before = this.#queues.get(queue);
      const pause = before ? Math.min(before.pause * 2, MAX_PAUSE) : MIN_PAUSE;
      this.#queues.set(queue, { pause, until: now + pause });
    }
  }
}
