import type { OrderBatch } from '../orders/order-batch.js';
import type { Order } from '../orders/order.js';
import { type Lateness, LatenessWindow } from './lateness-window.js';

/** The progress of a batch of orders. */
export interface BatchState extends OrderBatch {
  readonly cancelled: number;
  /** How many of those a pause has held up; `lateness` leaves them out. */
  readonly heldUp: number;
  /** From the due time until the last order was cancelled, ms; null until all are. */
  readonly took: number | null;
  readonly lateness: Lateness;
}

/** Follows one batch of orders. */
export class BatchProgress {
  readonly #lateness: LatenessWindow;
  readonly #heldUp: LatenessWindow;
  #lastAt = 0;

  constructor(private readonly batch: OrderBatch) {
    this.#lateness = new LatenessWindow(batch.size);
    this.#heldUp = new LatenessWindow(batch.size);
  }

  see({ id, batch, lateBy, heldUp, settledAt }: Order): void {
    if (batch !== this.batch.id || lateBy === null || settledAt === null) return;
    (heldUp ? this.#heldUp : this.#lateness).add(id, lateBy);
    this.#lastAt = Math.max(this.#lastAt, Date.parse(settledAt));
  }

  get state(): BatchState {
    const lateness = this.#lateness.summary();
    const heldUp = this.#heldUp.summary().count;
    const cancelled = lateness.count + heldUp;
    const took = cancelled === this.batch.size ? this.#lastAt - Date.parse(this.batch.dueAt) : null;
    return { ...this.batch, cancelled, heldUp, took, lateness };
  }
}
