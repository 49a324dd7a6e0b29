import type { MessageStore } from '../../lib/store/message-store.js';
import { until } from '../support/until.js';

/** Listens for earlier due times as a scheduler does. */
export class DueTimeListener {
  /** Resolves once announcements arrive. */
  readonly listening: Promise<void>;
  readonly stop: () => void;
  #announced: number[] = [];

  constructor(store: MessageStore) {
    let listens = () => {};
    this.listening = new Promise((resolve) => (listens = resolve));
    this.stop = store.watchDue({
      onListening: () => listens(),
      onEarlierDue: ({ dueAt }) => this.#announced.push(dueAt),
    });
  }

  forget(): void {
    this.#announced = [];
  }

  /** An earlier time counts too: a batch also announces what it offers and then replaces. */
  async untilAnnounced(dueAt: number): Promise<void> {
    const isAnnounced = () => this.#announced.some((announced) => announced <= dueAt);
    if (!isAnnounced()) await until(isAnnounced, { within: 2000, every: 1 });
  }
}
