import { Injectable, Logger } from '@nestjs/common';
import { DelayedHandler, type DelayedMessage } from 'nestjs-delay-queue';
import { Switches, wasHeldUp } from '../controls/switches.js';
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
    private readonly switches: Switches,
  ) {}

  // The message may come twice, or just as the customer pays, so the order itself decides once.
  @DelayedHandler('orders', {
    concurrency: 250,
    attempts: 4,
    backoff: { type: 'exponential', delay: '500ms', jitter: 0 },
    maxMessages: 5000,
    maxDeadLetters: 2000,
  })
  async cancelUnpaid({ orderId }: OrderTimeout, { attempt, dueAt }: DelayedMessage): Promise<void> {
    const states = await this.switches.read();
    if (states.failing) await this.#fail(orderId, attempt);
    const settlement = await this.book.settle(orderId, 'cancelled', { dueAt, heldUp: wasHeldUp(states, dueAt) });
    if (!settlement) return;
    const { order, won } = settlement;
    if (won && order.listed) this.#logger.log(`Order ${orderId} (${order.item}) was not paid in time: cancelled`);
    await this.events.publish({ type: 'order', data: order });
  }

  async #fail(orderId: string, attempt: number): Promise<never> {
    const order = await this.book.noteFailure(orderId, attempt);
    if (order) await this.events.publish({ type: 'order', data: order });
    throw new Error('The handler is switched to fail');
  }
}
