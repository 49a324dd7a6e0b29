/** The application of `board-nestjs.test.ts`. Jest cannot load `@bull-board/nestjs`, which requires Nest, an ES module, on every Node.js. */
import 'reflect-metadata';
import { BullBoardModule } from '@bull-board/nestjs';
import { ExpressAdapter } from '@bull-board/express';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  DelayedHandler,
  DelayQueue,
  DelayQueueModule,
  DelayQueueProducer,
  payload,
  RejectMessage,
} from 'nestjs-delay-queue';
import { DelayQueueBoardModule } from 'nestjs-delay-queue-bull-board/nestjs';

const [connection, prefix] = JSON.parse(process.argv[2]!) as [string, string];

class Emails extends DelayQueue('emails', { welcome: payload<{ to: string }>(), bounce: payload<object>() }) {}

class Invoices extends DelayQueue('invoices', payload<{ of: string }>(), { instance: 'billing' }) {}

let isFixed = false;

@Injectable()
class EmailHandlers {
  @DelayedHandler(Emails, 'welcome')
  send(): void {
    console.log('handled');
  }

  @DelayedHandler(Emails, 'bounce')
  bounce(): void {
    if (!isFixed) throw new RejectMessage('The mailbox is full.');
    console.log('handled again');
  }
}

@Module({
  imports: [DelayQueueBoardModule.forFeature({ queue: Emails, options: { description: 'What is sent later' } })],
  providers: [Emails, EmailHandlers],
})
class EmailModule {}

@Module({
  imports: [
    DelayQueueModule.forRoot({ connection, prefix }),
    DelayQueueModule.forRoot({ name: 'billing', connection, prefix: `${prefix}:billing` }),
    BullBoardModule.forRoot({ route: '/board', adapter: ExpressAdapter }),
    DelayQueueBoardModule.forFeature({ queue: 'orders' }, { queue: 'reminders', options: { readOnlyMode: true } }),
    DelayQueueBoardModule.forFeature({ queue: 'orders', instance: 'billing' }, { queue: Invoices }),
    EmailModule,
  ],
  providers: [Invoices],
})
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: false });
await app.listen(0, '127.0.0.1');
const producer = app.get(DelayQueueProducer);
await producer.offer('emails', { to: 'ada@example.com' }, '1h', { type: 'welcome', id: 'welcome:ada' });
await app.get(Invoices).offer({ of: 'ada' }, '1h', { id: 'invoice' });
await producer.offer('emails', {}, 0, { type: 'bounce', id: 'bounce:bob' });
while ((await producer.counts('emails')).dead === 0) await new Promise((resolve) => setTimeout(resolve, 10));
isFixed = true;
console.log(`${await app.getUrl()}/board`);
process.on('SIGTERM', () => void app.close());
