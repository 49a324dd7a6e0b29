import { queueMicrotask } from '../../timing/event-loop.js';
import type { DueListener } from '../message-flow.js';

/** Tells listeners of earlier due times, never within the call that made them: as across processes, they hear it later. */
export class DueAnnouncer {
  readonly #subscriptions = new Set<{ readonly listener: DueListener }>();

  watch(listener: DueListener): () => void {
    const subscription = { listener };
    this.#subscriptions.add(subscription);
    this.#tell(subscription, () => listener.onListening());
    return () => {
      this.#subscriptions.delete(subscription);
    };
  }

  announce(dueAt: number, now: number): void {
    for (const subscription of this.#subscriptions) {
      this.#tell(subscription, () => subscription.listener.onEarlierDue({ dueAt, dueIn: Math.max(0, dueAt - now) }));
    }
  }

  #tell(subscription: { readonly listener: DueListener }, say: () => void): void {
    queueMicrotask(() => {
      if (this.#subscriptions.has(subscription)) {
        say();
      }
    });
  }
}
