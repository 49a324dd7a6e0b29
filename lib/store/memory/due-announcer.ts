import { queueMicrotask } from '../../timing/event-loop.js';
import type { AnnouncedTransfer, Announcer, Claim, DueListener, TransferReport } from '../consumer-store.js';

/** Announces earlier due times, aborts and transfers. Listeners receive them after the call that made them, as across processes. */
export class DueAnnouncer {
  readonly #subscriptions = new Set<{ readonly listener: DueListener }>();

  watch(listener: DueListener): () => void {
    const subscription = { listener };
    this.#subscriptions.add(subscription);
    this.#announce(subscription, () => listener.onListening());
    return () => {
      this.#subscriptions.delete(subscription);
    };
  }

  announce(dueAt: number, now: number): void {
    this.#announceToAll((listener) => listener.onEarlierDue({ dueAt, dueIn: Math.max(0, dueAt - now) }));
  }

  announceAbort(claim: Claim): void {
    this.#announceToAll((listener) => listener.onAbort?.(claim));
  }

  announceTransfer({ scheduler, movedAt }: Announcer, report: TransferReport): void {
    const { moved, recovered, deadLettered, ready, at, nextAt, nextIn } = report;
    const hasMoved = moved + recovered + deadLettered.length > 0;
    const transfer: AnnouncedTransfer = { scheduler, at, movedAt: hasMoved ? at : movedAt, ready, nextAt, nextIn };
    this.#announceToAll((listener) => listener.onTransfer?.(transfer));
  }

  #announceToAll(say: (listener: DueListener) => void): void {
    for (const subscription of this.#subscriptions) this.#announce(subscription, () => say(subscription.listener));
  }

  #announce(subscription: { readonly listener: DueListener }, say: () => void): void {
    queueMicrotask(() => {
      if (this.#subscriptions.has(subscription)) say();
    });
  }
}
