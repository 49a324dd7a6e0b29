import type { MessageStore } from '../../lib/store/message-store.js';
import { until } from '../support/until.js';

/** Listens for earlier due times, as a scheduler does. */
export class DueEar {
  /** Resolves once announcements are heard. */
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

  /** It may be announced with more than there is: what a batch puts in and replaces again is named, too. */
  async untilItHears(dueAt: number): Promise<void> {
    const isHeard = () => this.#heard.some((heard) => heard <= dueAt);
    if (!isHeard()) await until(isHeard, { within: 2000, every: 1 });
  }
}
