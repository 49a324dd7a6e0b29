// An application whose Redis is elsewhere: its tests must not look for it.
import { Injectable, Module } from '@nestjs/common';
import { DelayedHandler, type DelayedMessage, DelayQueueModule, DelayQueueProducer } from 'nestjs-delay-queue';

@Injectable()
export class Reminders {
  readonly reminded: string[] = [];

  constructor(private readonly producer: DelayQueueProducer) {}

  async place(orderId: string): Promise<void> {
    await this.producer.offer('reminders', { orderId }, '30m', { type: 'remind' });
  }

  @DelayedHandler('reminders', 'remind', { backoff: { type: 'fixed', delay: '1m' } })
  remind({ orderId }: { orderId: string }, { attempt }: DelayedMessage): void {
    if (attempt < 3) throw new Error('the mail server is down');
    this.reminded.push(orderId);
  }
}

@Module({
  imports: [DelayQueueModule.forRoot({ connection: 'redis://nowhere.invalid:1' })],
  providers: [Reminders],
})
export class RemindersModule {}
