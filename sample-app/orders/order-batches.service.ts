import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DelayQueueProducer } from 'nestjs-delay-queue';
import { ShopEvents } from '../live/shop-events.js';
import type { OrderBatch } from './order-batch.js';
import { OrderBook, type OrderDraft } from './order-book.js';
import { newOrderId, timeoutId } from './order-ids.js';

const SIZE = 1000;
const DELAY = '3s';
/** How many orders of a batch are listed; few, so that the visitors' own orders stay in view. */
const LISTED = 3;

@Injectable()
export class OrderBatchesService {
  constructor(
    private readonly book: OrderBook,
    private readonly events: ShopEvents,
    private readonly producer: DelayQueueProducer,
  ) {}

  /** Places a thousand orders that fall due at the same instant, by the same rules as a single one. */
  async place(): Promise<OrderBatch> {
    const id = randomBytes(4).toString('hex');
    const drafts = Array.from({ length: SIZE }, (_, i) => draftOf(id, i + 1));
    await this.book.draft(drafts);
    const offers = await this.#offerTimeouts(drafts);
    const orders = await this.book.confirm(drafts.map((draft, i) => ({ id: draft.id, dueAt: offers[i]!.dueAt })));
    const batch = { id, size: SIZE, dueAt: offers[0]!.dueAt.toISOString() };
    await this.events.publish({ type: 'batch', data: batch });
    for (const order of orders.filter(({ listed }) => listed))
      await this.events.publish({ type: 'order', data: order });
    return batch;
  }

  #offerTimeouts(drafts: readonly OrderDraft[]) {
    return this.producer.offerMany(
      'orders',
      drafts.map(({ id }) => ({ id: timeoutId(id), payload: { orderId: id }, delay: DELAY })),
    );
  }
}

function draftOf(batch: string, number: number): OrderDraft {
  return { id: newOrderId(), item: `Order ${show(number)} of ${show(SIZE)}`, batch, listed: number > SIZE - LISTED };
}

function show(number: number): string {
  return number.toLocaleString('en');
}
