// A shop with typed queues, as an application would write it: three types in one queue, one kind of message in the other.
import { Injectable, Module } from '@nestjs/common';
import {
  DelayedHandler,
  DelayQueue,
  DelayQueueModule,
  type MessageOf,
  payload,
  type PayloadOf,
  RejectMessage,
} from 'nestjs-delay-queue';
import { z } from 'zod';

export class PaymentDto {
  orderId!: string;
  amount!: number;
}

export class Orders extends DelayQueue(
  'orders',
  {
    'cancel-unpaid': z.object({ orderId: z.string() }),
    pay: PaymentDto,
    note: payload<{ text: string }>(),
  },
  { concurrency: 32, attempts: 3 },
) {}

export class Emails extends DelayQueue('emails', z.object({ to: z.email() })) {}

@Injectable()
export class Shop {
  constructor(
    private readonly orders: Orders,
    private readonly emails: Emails,
  ) {}

  async place(orderId: string, to: string): Promise<void> {
    await this.orders.offer('cancel-unpaid', { orderId }, '30m', { id: `unpaid:${orderId}` });
    await this.emails.offer({ to }, '1h');
  }

  async pay(orderId: string, amount: number): Promise<void> {
    await this.orders.cancel(`unpaid:${orderId}`);
    await this.orders.offerMany([
      { type: 'pay', payload: { orderId, amount }, delay: '1m' },
      { type: 'note', payload: { text: `${orderId} is paid` }, delay: '1d' },
    ]);
  }
}

@Injectable()
export class Clerk {
  readonly done: string[] = [];

  @DelayedHandler(Orders, 'cancel-unpaid', { timeout: '10s' })
  cancel({ orderId }: PayloadOf<typeof Orders, 'cancel-unpaid'>, message: MessageOf<typeof Orders, 'cancel-unpaid'>) {
    this.done.push(`${message.type} ${orderId}`);
  }

  @DelayedHandler(Orders, 'pay', { backoff: { type: 'fixed', delay: '1m' } })
  collect({ orderId, amount }: PaymentDto, { attempt }: MessageOf<typeof Orders, 'pay'>) {
    if (amount <= 0) throw new RejectMessage('there is nothing to pay');
    if (attempt < 3) throw new Error('the bank is closed');
    this.done.push(`pay ${orderId}`);
  }

  @DelayedHandler(Orders, 'note')
  async write({ text }: PayloadOf<typeof Orders, 'note'>): Promise<void> {
    this.done.push(await Promise.resolve(`note ${text}`));
  }

  @DelayedHandler(Emails)
  send({ to }: PayloadOf<typeof Emails>) {
    this.done.push(`email ${to}`);
  }
}

@Module({
  imports: [DelayQueueModule.forRoot({ connection: process.env.REDIS_URL })],
  providers: [Orders, Emails, Shop, Clerk],
})
export class ShopModule {}
