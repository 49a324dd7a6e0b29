import { Injectable } from '@nestjs/common';
import { OrderBook, type OrderDraft, type Settlement } from '../../orders/order-book.js';
import type { Order, OrderOutcome } from '../../orders/order.js';

type Entry = Omit<Order, 'dueAt'> & { readonly dueAt: string | null };

@Injectable()
export class MemoryOrderBook extends OrderBook {
  readonly #entries = new Map<string, Entry>();

  override draft({ id, item }: OrderDraft): Promise<void> {
    const placedAt = new Date().toISOString();
    this.#entries.set(id, { id, item, status: 'unpaid', placedAt, dueAt: null, settledAt: null });
    return Promise.resolve();
  }

  override confirm(id: string, dueAt: Date): Promise<Order> {
    const entry = this.#entries.get(id);
    if (!entry) return Promise.reject(new Error(`There is no draft ${id}`));
    const order = { ...entry, dueAt: dueAt.toISOString() };
    this.#entries.set(id, order);
    return Promise.resolve(order);
  }

  override discard(id: string): Promise<void> {
    this.#entries.delete(id);
    return Promise.resolve();
  }

  override settle(id: string, outcome: OrderOutcome): Promise<Settlement | null> {
    const entry = this.#entries.get(id);
    const won = entry?.status === 'unpaid';
    if (won) this.#entries.set(id, { ...entry, status: outcome, settledAt: new Date().toISOString() });
    const order = this.#order(id);
    return Promise.resolve(order && { order, won });
  }

  override find(id: string): Promise<Order | null> {
    return Promise.resolve(this.#order(id));
  }

  override latest(limit: number): Promise<Order[]> {
    const orders = [...this.#entries.keys()].reverse().map((id) => this.#order(id));
    return Promise.resolve(orders.filter((order) => order !== null).slice(0, limit));
  }

  override now(): Promise<Date> {
    return Promise.resolve(new Date());
  }

  #order(id: string): Order | null {
    const entry = this.#entries.get(id);
    return entry && entry.dueAt !== null ? { ...entry, dueAt: entry.dueAt } : null;
  }
}
