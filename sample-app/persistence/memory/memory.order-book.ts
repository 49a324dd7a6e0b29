import { Injectable } from '@nestjs/common';
import {
  type Confirmation,
  OrderBook,
  type OrderDraft,
  type Settlement,
  type TimeoutMessage,
} from '../../orders/order-book.js';
import type { Order, OrderOutcome } from '../../orders/order.js';

type Entry = Omit<Order, 'dueAt'> & { readonly dueAt: string | null };

/** Beyond this the oldest orders are forgotten, so that memory does not run out. */
const MAX_ORDERS = 10_000;

@Injectable()
export class MemoryOrderBook extends OrderBook {
  readonly #entries = new Map<string, Entry>();
  #cancelled = 0;

  override draft(drafts: readonly OrderDraft[]): Promise<void> {
    const placedAt = new Date().toISOString();
    const fresh = {
      status: 'unpaid',
      placedAt,
      dueAt: null,
      settledAt: null,
      lateBy: null,
      heldUp: false,
      failedAttempts: 0,
    } as const;
    for (const draft of drafts) this.#entries.set(draft.id, { ...draft, ...fresh });
    const [...ids] = this.#entries.keys();
    for (const id of ids.slice(0, -MAX_ORDERS)) this.#entries.delete(id);
    return Promise.resolve();
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- turns what is thrown into a rejection
  override async confirm(confirmations: readonly Confirmation[]): Promise<Order[]> {
    return confirmations.map((confirmation) => this.#confirm(confirmation));
  }

  override discard(id: string): Promise<void> {
    this.#entries.delete(id);
    return Promise.resolve();
  }

  override settle(id: string, outcome: OrderOutcome, message?: TimeoutMessage): Promise<Settlement | null> {
    const entry = this.#entries.get(id);
    const won = entry?.status === 'unpaid';
    if (won) {
      const now = Date.now();
      const lateBy = message ? now - message.dueAt.getTime() : null;
      const heldUp = message?.heldUp ?? false;
      this.#entries.set(id, { ...entry, status: outcome, settledAt: new Date(now).toISOString(), lateBy, heldUp });
      if (outcome === 'cancelled') this.#cancelled++;
    }
    const order = this.#order(id);
    return Promise.resolve(order && { order, won });
  }

  override noteFailure(id: string, failedAttempts: number): Promise<Order | null> {
    const entry = this.#entries.get(id);
    if (entry) this.#entries.set(id, { ...entry, failedAttempts });
    return this.find(id);
  }

  override find(id: string): Promise<Order | null> {
    return Promise.resolve(this.#order(id));
  }

  override latest(limit: number): Promise<Order[]> {
    const orders = [...this.#entries.keys()].reverse().map((id) => this.#order(id));
    return Promise.resolve(
      orders
        .filter((order) => order !== null)
        .filter(({ listed }) => listed)
        .slice(0, limit),
    );
  }

  override cancelled(): Promise<number> {
    return Promise.resolve(this.#cancelled);
  }

  override now(): Promise<Date> {
    return Promise.resolve(new Date());
  }

  #confirm({ id, dueAt }: Confirmation): Order {
    const entry = this.#entries.get(id);
    if (!entry) throw new Error(`There is no draft ${id}`);
    const order = { ...entry, dueAt: dueAt.toISOString() };
    this.#entries.set(id, order);
    return order;
  }

  #order(id: string): Order | null {
    const entry = this.#entries.get(id);
    return entry && entry.dueAt !== null ? { ...entry, dueAt: entry.dueAt } : null;
  }
}
