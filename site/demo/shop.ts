import 'reflect-metadata';
import { Injectable, Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DelayedHandler, type DelayedMessage, DelayQueueModule, DelayQueueProducer } from 'nestjs-delay-queue';

/** An order, as the page shows it. */
interface HandledOrder {
  readonly orderId: string;
  /** ms */
  readonly late: number;
}

let onHandled: (order: HandledOrder) => void = () => undefined;

@Injectable()
export class OrderTimeouts {
  @DelayedHandler('orders')
  cancelUnpaid(payload: { orderId: string }, message: DelayedMessage): void {
    onHandled({ orderId: payload.orderId, late: Math.max(0, Date.now() - message.dueAt.getTime()) });
  }
}

@Module({ imports: [DelayQueueModule.forRoot({ store: 'memory' })], providers: [OrderTimeouts] })
export class ShopModule {}

/** What the page calls. */
export class Shop {
  private constructor(private readonly app: INestApplicationContext) {}

  static async open(handled: (order: HandledOrder) => void): Promise<Shop> {
    onHandled = handled;
    return new Shop(await NestFactory.createApplicationContext(ShopModule, { logger: false, abortOnError: false }));
  }

  async place(orderId: string, delay: string): Promise<void> {
    await this.app.get(DelayQueueProducer).offer('orders', { orderId }, delay as '5s', { id: `unpaid:${orderId}` });
  }

  /** @returns whether the order was still waiting */
  pay(orderId: string): Promise<boolean> {
    return this.app.get(DelayQueueProducer).cancel('orders', `unpaid:${orderId}`);
  }

  async close(): Promise<void> {
    await this.app.close();
  }
}
