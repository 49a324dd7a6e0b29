// An application with two Redis servers and a queue in memory, as named instances.
import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  DelayedHandler,
  DelayQueue,
  type DelayQueueEvent,
  DelayQueueModule,
  DelayQueueProducer,
  getDelayQueueProducerToken,
  InjectDelayQueueProducer,
  OnDelayQueueEvent,
  payload,
  type PayloadOf,
} from 'nestjs-delay-queue';

const { REDIS_URL = '', BILLING_URL = '' } = process.env;

class Invoices extends DelayQueue('invoices', payload<{ of: string }>(), { instance: 'billing' }) {}

/** The handled messages and the events that listeners received. */
const handled: string[] = [];
const reported: string[] = [];

@Injectable()
class Orders {
  constructor(
    private readonly producer: DelayQueueProducer,
    @InjectDelayQueueProducer('billing') private readonly billing: DelayQueueProducer,
    @InjectDelayQueueProducer('drafts') private readonly drafts: DelayQueueProducer,
    private readonly invoices: Invoices,
  ) {}

  async place(): Promise<void> {
    await this.producer.offer('orders', 'a', 50, { id: 'same' });
    await this.billing.offer('orders', 'b', 50, { id: 'same' });
    await this.drafts.offer('orders', 'c', 50, { id: 'same' });
    await this.invoices.offer({ of: 'd' }, 50);
  }

  @DelayedHandler('orders')
  handle(text: string): void {
    handled.push(`shop: ${text}`);
  }

  @DelayedHandler('orders', { instance: 'billing' })
  handleOfBilling(text: string): void {
    handled.push(`billing: ${text}`);
  }

  @DelayedHandler('orders', { instance: 'drafts' })
  handleOfDrafts(text: string): void {
    handled.push(`drafts: ${text}`);
  }

  @DelayedHandler(Invoices)
  send({ of }: PayloadOf<typeof Invoices>): void {
    handled.push(`invoice: ${of}`);
  }

  @OnDelayQueueEvent('handled', { instance: 'billing' })
  tell({ instance, queue }: DelayQueueEvent<'handled'>): void {
    reported.push(`${instance}: ${queue}`);
  }
}

@Module({
  imports: [
    DelayQueueModule.forRoot({ connection: REDIS_URL }),
    DelayQueueModule.forRootAsync({ name: 'billing', useFactory: () => ({ connection: BILLING_URL }) }),
    DelayQueueModule.forRoot({ name: 'drafts', store: 'memory' }),
  ],
  providers: [Orders, Invoices],
})
class AppModule {}

async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error'] });
  const billing = app.get<DelayQueueProducer>(getDelayQueueProducerToken('billing'));
  await app.get(Orders).place();
  while (handled.length < 4 || reported.length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
  await billing.offer('left', null, '1h', { id: 'left' });
  const found = (await app.get(DelayQueueProducer).find('left', 'left')) ?? 'nothing';
  await app.close();
  console.log(JSON.stringify({ handled: handled.sort(), reported: reported.sort(), found }));
}

void main();
