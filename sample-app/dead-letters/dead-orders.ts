import { Injectable } from '@nestjs/common';
import { type DeadLetter, type DeadLetters, DelayQueueProducer } from 'nestjs-delay-queue';
import { timeoutId } from '../orders/order-ids.js';
import type { OrderTimeout } from '../orders/order-timeouts.js';
import type { Order } from '../orders/order.js';

const LIST_LENGTH = 3;

/** A message of the orders' queue whose attempts are spent, as the pages show it. */
export interface DeadOrder {
  /** The id of the message. */
  readonly id: string;
  readonly orderId: string;
  readonly failedAttempts: number;
  readonly error: string;
}

/** The dead letters of the orders' queue. */
@Injectable()
export class DeadOrders {
  constructor(private readonly producer: DelayQueueProducer) {}

  /** The oldest ones. */
  async list(): Promise<DeadOrder[]> {
    const { messages } = await this.#letters.list({ limit: LIST_LENGTH });
    return messages.map(({ id, payload, failedAttempts, error }) => ({
      id,
      orderId: payload.orderId,
      failedAttempts,
      error: error.message,
    }));
  }

  /** Which of these orders have a dead letter. An order remembers its failures even if its letter is redriven or discarded. */
  async idsAmong(orders: readonly Order[]): Promise<string[]> {
    const failed = orders.filter(({ status, failedAttempts }) => status === 'unpaid' && failedAttempts > 0);
    const messages = await Promise.all(failed.map(({ id }) => this.producer.find('orders', timeoutId(id))));
    return failed.filter((_order, i) => messages[i]?.state === 'dead').map(({ id }) => id);
  }

  redrive(id: string): Promise<boolean> {
    return this.#letters.redrive(id);
  }

  redriveAll(): Promise<number> {
    return this.#letters.redriveAll();
  }

  discardAll(): Promise<number> {
    return this.#letters.discardAll();
  }

  get #letters(): DeadLetters<DeadLetter<OrderTimeout>> {
    return this.producer.deadLetters('orders');
  }
}
