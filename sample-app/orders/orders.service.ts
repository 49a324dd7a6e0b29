import { ConflictException, Injectable, Logger, NotFoundException } from '@nestjs/common';
import { DelayQueueError, DelayQueueProducer, type Duration, type OfferResult } from 'nestjs-delay-queue';
import { ShopEvents } from '../live/shop-events.js';
import { OrderBook } from './order-book.js';
import { newOrderId, timeoutId } from './order-ids.js';
import type { OrderTimeout } from './order-timeouts.js';
import type { Order } from './order.js';

const LIST_LENGTH = 20;

@Injectable()
export class OrdersService {
  readonly #logger = new Logger(OrdersService.name);

  constructor(
    private readonly book: OrderBook,
    private readonly events: ShopEvents,
    private readonly producer: DelayQueueProducer,
  ) {}

  /**
   * Saves a draft before offering the timeout, so that the timeout finds it. The draft becomes an order only once the timeout
   * is offered, so that no order can stay unpaid for ever. If the process dies in between, there is no order, and the
   * customer was told of none.
   */
  async place(item: string, payWithin: Duration): Promise<Order> {
    const id = newOrderId();
    await this.book.draft([{ id, item, batch: null, listed: true }]);
    const { dueAt } = await this.#offerTimeout(id, payWithin).catch(async (error: unknown) => {
      await this.#discard(id);
      throw error;
    });
    const [order] = await this.book.confirm([{ id, dueAt }]);
    return this.#publish(order!);
  }

  /** Paying twice is paying once. */
  async pay(id: string): Promise<Order> {
    const settlement = await this.book.settle(id, 'paid');
    if (!settlement) throw unknown(id);
    const { order, won } = settlement;
    if (order.status === 'cancelled') throw new ConflictException(`Order ${id} is cancelled: it was not paid in time`);
    if (won) {
      await this.#cancelTimeout(id);
      await this.#publish(order);
    }
    return order;
  }

  async find(id: string): Promise<Order> {
    const order = await this.book.find(id);
    if (!order) throw unknown(id);
    return order;
  }

  latest(): Promise<Order[]> {
    return this.book.latest(LIST_LENGTH);
  }

  async #offerTimeout(orderId: string, payWithin: Duration): Promise<OfferResult> {
    const offer = () => this.producer.offer<OrderTimeout>('orders', { orderId }, payWithin, { id: timeoutId(orderId) });
    try {
      return await offer();
    } catch (error) {
      // The message has its own id, so it exists only once even if the first offer arrived.
      if (error instanceof DelayQueueError && error.code === 'OUTCOME_UNKNOWN') return offer();
      throw error;
    }
  }

  async #discard(id: string): Promise<void> {
    try {
      await this.book.discard(id);
    } catch (error) {
      this.#logger.warn(`Draft ${id} is left to expire: ${String(error)}`);
    }
  }

  async #cancelTimeout(orderId: string): Promise<void> {
    try {
      await this.producer.cancel('orders', timeoutId(orderId));
    } catch (error) {
      this.#logger.warn(
        `The timeout of order ${orderId} was not cancelled, and will find the order paid: ${String(error)}`,
      );
    }
  }

  async #publish(order: Order): Promise<Order> {
    await this.events.publish({ type: 'order', data: order });
    return order;
  }
}

function unknown(id: string): NotFoundException {
  return new NotFoundException(`There is no order ${id}`);
}
