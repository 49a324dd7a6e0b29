import type { MessageBody } from '../message/codec/message-codec.js';
import type { SettleReport, Settlement } from '../store/consumer-store.js';
import type { Offer, OfferReceipt } from '../store/producer-store.js';
import type { StoreLimits } from '../store/message-store.js';
import { instantOf } from '../store/memory/memory-queue.js';
import { MemoryMessageStore } from '../store/memory/memory-store.js';
import type { Clock } from '../timing/clock.js';

export interface TakenOffer {
  readonly queue: string;
  readonly id: string;
  readonly body: MessageBody;
  readonly dueAt: number;
  /** The time from the offer to the due time, ms. */
  readonly delay: number;
}

export interface WatchedStoreOptions {
  readonly instance: string;
  readonly queue: string;
  readonly limits: StoreLimits;
  readonly clock: Clock;
  readonly onOffered: (offer: TakenOffer) => void;
  /** Called when an attempt has ended and its outcome counts. */
  readonly onSettled: () => void;
}

/** An in-memory store that reports offers and outcomes. */
export class WatchedStore extends MemoryMessageStore {
  readonly instance: string;
  readonly queue: string;
  readonly #options: WatchedStoreOptions;

  constructor(options: WatchedStoreOptions) {
    super(options);
    this.instance = options.instance;
    this.queue = options.queue;
    this.#options = options;
  }

  override async offer(offers: readonly Offer[]): Promise<OfferReceipt[]> {
    const { queue, clock, onOffered } = this.#options;
    const now = clock.wall();
    const receipts = await super.offer(offers);
    for (const [i, { outcome, dueAt }] of receipts.entries()) {
      const { id, due, body } = offers[i]!;
      const isTakenIn = outcome === 'created' || outcome === 'replaced';
      if (isTakenIn) onOffered({ queue, id, body, dueAt, delay: Math.max(0, dueAt - now) });
      if (outcome === 'followed') {
        const falls = instantOf(due, now);
        onOffered({ queue, id, body, dueAt: falls, delay: Math.max(0, falls - now) });
      }
    }
    return receipts;
  }

  override async settle(settlements: readonly Settlement[]): Promise<SettleReport> {
    const report = await super.settle(settlements);
    for (const accepted of report.accepted) if (accepted) this.#options.onSettled();
    return report;
  }
}
