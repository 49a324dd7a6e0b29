import type { MessageStore } from '../../lib/store/message-store.js';
import { until } from '../support/until.js';

/** Listens for earlier due times as a scheduler does. */
export class DueEar {
  /** Resolves once announcements can be heard. */
  readonly listening: Promise<void>;
  readonly stop: () => void;
  #heard: number[] = [];

  constructor(store: MessageStore) {
    let listens = () => {};
    this.listening = new Promise((resolve) => (listens = resolve));
    this.stop = store.watchDue({
      onListening: () => listens(),
      onEarlierDue: ({ dueAt }) => this.#heard.push(dueAt),
    });
  }

  forget(): void {
    this.#heard = [];
  }

  /** An earlier time counts too: a batch also announces what it offers and then replaces. */
  async untilItHears(dueAt: number): Promise<void> {
    const isHeard = () => this.#heard.some((heard) => heard <= dueAt);
    if (!isHeard()) await until(isHeard, { within: 2000, every: 1 });
  }
}
