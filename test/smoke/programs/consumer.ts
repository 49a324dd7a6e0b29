// A complete application as a user of the package would write it. It is compiled and run where the packed package is
// installed, as an ES module and as a CommonJS module.
import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type DelayedMessage, DelayedHandler, DelayQueueModule, DelayQueueProducer } from 'nestjs-delay-queue';

const { REDIS_URL = '', QUEUE = '' } = process.env;
const DELAY = 50;

interface Order {
  readonly orderId: number;
}

@Injectable()
class Clerk {
  #resolve!: (message: DelayedMessage<Order>) => void;
  readonly handled = new Promise<DelayedMessage<Order>>((resolve) => (this.#resolve = resolve));

  @DelayedHandler(QUEUE, { concurrency: 4 })
  cancelUnpaid(_order: Order, message: DelayedMessage<Order>): void {
    this.#resolve(message);
  }
}

@Injectable()
class Shop {
  constructor(private readonly producer: DelayQueueProducer) {}

  async place(order: Order): Promise<string> {
    const { id } = await this.producer.offer(QUEUE, order, DELAY);
    return id;
  }
}

@Module({ imports: [DelayQueueModule.forRoot({ connection: REDIS_URL })], providers: [Clerk, Shop] })
class AppModule {}

async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error', 'warn'] });
  const start = performance.now();
  const id = await app.get(Shop).place({ orderId: 7 });
  const message = await app.get(Clerk).handled;
  const waited = performance.now() - start;
  await app.close();
  console.log(JSON.stringify({ same: message.id === id, payload: message.payload, onTime: waited >= DELAY }));
}

void main();
