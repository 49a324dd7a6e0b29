import type { Clock } from '../../timing/clock.js';
import type {
  AnnouncedTransfer,
  Announcer,
  Claim,
  DueListener,
  TransferReport,
  WakeSignal,
} from '../consumer-store.js';
import { queueMicrotask } from '../../timing/event-loop.js';

type EndWait = (isAwake: boolean) => void;

/** The wake-up signals of one queue. Each wakes the consumer that has waited longest. If none is waiting, one signal is kept. */
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
      // Needs to end only pending waits: a signal that comes while nobody waits is kept for any consumer.
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

/** Announces earlier due times, aborts and transfers. Listeners run after the announcing call has ended, as they do in other processes. */
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

  announceLimits(): void {
    this.#announceToAll((listener) => listener.onLimits?.());
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
