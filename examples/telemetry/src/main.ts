import { sdk } from './sdk.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DelayedHandler, DelayQueueModule, DelayQueueProducer } from 'nestjs-delay-queue';
import { openTelemetry } from 'nestjs-delay-queue/otel';

const ORDERS = Number(process.env.ORDERS ?? 3);

@Injectable()
class OrderTimeouts {
  @DelayedHandler('orders')
  async cancelUnpaid(): Promise<void> {
    await sleep(Math.random() * 20);
    if (Math.random() < 0.1) throw new Error('the shop did not answer');
  }
}

@Module({
  imports: [DelayQueueModule.forRoot({ store: 'memory', observers: [openTelemetry()] })],
  providers: [OrderTimeouts],
})
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error'] });
const producer = app.get(DelayQueueProducer);
for (let i = 1; i <= ORDERS; i++) {
  await producer.offer('orders', { orderId: `order ${i}` }, '1s');
  await sleep(20);
}
await sleep(2000);
await app.close();
await sdk.shutdown(); // sends what it still has
