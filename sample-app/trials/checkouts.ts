import { Injectable } from '@nestjs/common';
import { DelayedHandler, DelayQueueProducer } from 'nestjs-delay-queue';
import { Trials } from './trials.js';

interface Checkout {
  readonly outcome: 'paid' | 'timed out';
}

const ID = 'checkout';

/** A payment or its deadline, whichever comes first. */
@Injectable()
export class Checkouts {
  constructor(
    private readonly producer: DelayQueueProducer,
    private readonly trials: Trials,
  ) {}

  async start(): Promise<void> {
    const checkout: Checkout = { outcome: 'timed out' };
    const { created, dueAt } = await this.producer.offer('checkouts', checkout, '8s', { id: ID });
    const text = created ? 'Times out in' : 'It has started already. Times out in';
    await this.trials.tell('checkouts', text, { dueAt: dueAt.toISOString(), line: 'deadline' });
  }

  async pay(): Promise<void> {
    const isInTime = await this.producer.reschedule('checkouts', ID, 0, { payload: { outcome: 'paid' } });
    if (!isInTime) await this.trials.tell('checkouts', 'Too late: no checkout waits');
  }

  @DelayedHandler('checkouts')
  async finish({ outcome }: Checkout): Promise<void> {
    await this.trials.tell('checkouts', `Handled once, as ${outcome}`);
  }
}
