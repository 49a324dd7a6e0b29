import { type Clock, type Events, RetriedWork } from 'nestjs-delay-queue/layouts';
import type { ListWatch } from './list-watch.js';

/** A wait that takes less than this, ms, is followed by a pause of that length. */
const SHORT_WAIT = 100;

type List = Pick<ListWatch, 'wait' | 'close'>;

export interface TargetWatchOptions {
  readonly queue: string;
  /** Opens a watch on the target list. */
  readonly open: () => List;
  readonly clock: Clock;
  readonly events: Events;
  /** How long one wait blocks, ms. */
  readonly blockTimeout: number;
}

/**
 * Notices values in the target list that no transfer of this process has moved there. Java moves or puts values there without sending a
 * wake-up signal. It waits only while the list is known to be empty; values that are added to a non-empty list are found with the others.
 */
export class TargetWatch {
  readonly #options: TargetWatchOptions;
  readonly #listeners = new Set<{ readonly onArrival: () => void }>();
  readonly #work: RetriedWork;
  #list: List | undefined;
  #length = 0;
  /** True if this process has seen values in the list since the wait began. */
  #isKnown = false;
  #moving: Promise<unknown> = Promise.resolve();
  #emptied: () => void = () => undefined;

  constructor(options: TargetWatchOptions) {
    this.#options = options;
    const { queue, clock, events } = options;
    this.#work = new RetriedWork({ work: 'watch-target', queue, clock, events });
  }

  /** Calls `tell` until the returned function is called. */
  watch(onArrival: () => void): () => void {
    const listener = { onArrival };
    this.#listeners.add(listener);
    if (!this.#list) {
      this.#list = this.#options.open();
      void this.#run(this.#list);
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#stop();
    };
  }

  /** Notes the length of the list, as seen by a script. */
  note(length: number): void {
    this.#length = length;
    if (length > 0) this.#isKnown = true;
    else this.#emptied();
  }

  /** Runs a transfer. The values that it moves itself need no notice. */
  whileMoving<T>(transfer: () => Promise<T>): Promise<T> {
    const moving = transfer();
    this.#moving = moving.catch(() => undefined);
    return moving;
  }

  async #run(list: List): Promise<void> {
    const { clock, blockTimeout } = this.#options;
    while (this.#list === list) {
      this.#isKnown = false;
      const since = clock.monotonic();
      const filled = await this.#work.attempt(() => list.wait(blockTimeout));
      // A closed watch ends each wait at once.
      if (filled === false && clock.monotonic() - since < SHORT_WAIT) await this.#work.pause(SHORT_WAIT);
      if (!filled) continue;
      await this.#moving;
      if (!this.#isKnown) for (const { onArrival } of this.#listeners) onArrival();
      else if (this.#length === 0) continue;
      await this.#untilEmptied();
    }
  }

  /** While values wait, the scheduler runs every second, so an emptied list is always noted. */
  #untilEmptied(): Promise<void> {
    return new Promise((resolve) => (this.#emptied = resolve));
  }

  #stop(): void {
    void this.#list?.close();
    this.#list = undefined;
    this.#work.end();
    this.#emptied();
  }
}
