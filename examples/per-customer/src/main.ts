import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DelayedHandler, type DelayedMessage, DelayQueueModule, DelayQueueProducer } from 'nestjs-delay-queue';

@Injectable()
class Mailer {
  /** One mail at a time for each customer; customers are served round-robin. */
  @DelayedHandler('mails', { concurrency: 1, groups: { concurrency: 1 } })
  async send(subject: string, { group }: DelayedMessage) {
    await sleep(100);
    console.log(`${group}: ${subject}`);
  }
}

@Module({ imports: [DelayQueueModule.forRoot({ store: 'memory' })], providers: [Mailer] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error'] });
const producer = app.get(DelayQueueProducer);
const mail = (subject: string, group: string) => ({ payload: subject, delay: 500, group }) as const;
await producer.offerMany('mails', [
  ...[1, 2, 3, 4].map((number) => mail(`mail ${number}`, 'Ada')),
  mail('mail 1', 'Grace'),
  mail('mail 1', 'Edsger'),
]);
console.log(`Edsger leaves, and ${await producer.group('mails', 'Edsger').cancelAll()} mail is cancelled`);
await sleep(2000);
await app.close();
