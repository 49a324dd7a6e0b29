import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { again, DelayedHandler, DelayQueue, DelayQueueModule, payload, type PayloadOf } from 'nestjs-delay-queue';

const LAST = 3;

class Reminders extends DelayQueue('reminders', payload<{ invoiceId: string; nth: number }>()) {}

@Injectable()
class Invoices {
  readonly #unpaid = new Set<string>();

  constructor(private readonly reminders: Reminders) {}

  async send(invoiceId: string): Promise<void> {
    this.#unpaid.add(invoiceId);
    await this.reminders.offer({ invoiceId, nth: 1 }, '1s', { id: invoiceId });
  }

  async pay(invoiceId: string): Promise<void> {
    this.#unpaid.delete(invoiceId);
    await this.reminders.cancel(invoiceId);
  }

  @DelayedHandler(Reminders)
  remind({ invoiceId, nth }: PayloadOf<typeof Reminders>) {
    if (!this.#unpaid.has(invoiceId)) return;
    console.log(`${invoiceId}: reminder ${nth}`);
    return nth < LAST ? again('1s', { payload: { invoiceId, nth: nth + 1 } }) : undefined;
  }
}

@Module({ imports: [DelayQueueModule.forRoot({ store: 'memory' })], providers: [Reminders, Invoices] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error'] });
const invoices = app.get(Invoices);
await invoices.send('invoice 1');
await sleep(500);
await invoices.send('invoice 2');
await sleep(1750);
await invoices.pay('invoice 2');
console.log('invoice 2 is paid');
await sleep(1500);
await app.close();
