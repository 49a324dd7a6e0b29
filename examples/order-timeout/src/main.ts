import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DelayedHandler, DelayQueueModule, DelayQueueProducer } from 'nestjs-delay-queue';

// #region orders
@Injectable()
class Orders {
  constructor(private readonly queue: DelayQueueProducer) {}

  place = (id: string) => this.queue.offer('orders', { id }, '5s', { id });
  pay = (id: string) => this.queue.cancel('orders', id);

  @DelayedHandler('orders')
  cancelUnpaid({ id }: { id: string }) {
    console.log(`${id} was not paid in time: cancelled`);
  }
}
// #endregion orders

@Module({ imports: [DelayQueueModule.forRoot({ store: 'memory' })], providers: [Orders] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error'] });
const orders = app.get(Orders);
await orders.place('order 1');
await orders.place('order 2');
console.log('2 orders placed');
await orders.pay('order 1');
console.log('order 1 is paid');
await sleep(5500);
await app.close();
