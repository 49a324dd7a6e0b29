import { Injectable, Logger } from '@nestjs/common';
import { DelayedHandler } from 'nestjs-delay-queue';
import { ShopEvents } from '../live/shop-events.js';
import { OrderBook } from './order-book.js';

export interface OrderTimeout {
  readonly orderId: string;
}

@Injectable()
export class OrderTimeouts {
  readonly #logger = new Logger(OrderTimeouts.name);

  constructor(
    private readonly book: OrderBook,
    private readonly events: ShopEvents,
  ) {}

  // The message may come twice, or just when the customer pays: the order itself decides, once.
  @DelayedHandler('orders')
  async cancelUnpaid({ orderId }: OrderTimeout): Promise<void> {
    const settlement = await this.book.settle(orderId, 'cancelled');
    if (!settlement) return;
    const { order, won } = settlement;
    if (won) this.#logger.log(`Order ${orderId} (${order.item}) was not paid in time: cancelled`);
    await this.events.publish({ type: 'order', data: order });
  }
}
