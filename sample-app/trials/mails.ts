import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DelayedHandler, type DelayedMessage, DelayQueueProducer } from 'nestjs-delay-queue';
import { Trials } from './trials.js';

interface Mail {
  readonly number: number;
}

/** Who gets the mails, in the order of their offers: four of Ada's come before all others. */
const CUSTOMERS = ['Ada', 'Ada', 'Ada', 'Ada', 'Grace', 'Grace', 'Edsger'];
const SENDING = 400;

/** Mails of several customers, due at once: in order for each customer, round-robin between customers. */
@Injectable()
export class Mails {
  constructor(
    private readonly producer: DelayQueueProducer,
    private readonly trials: Trials,
  ) {}

  async offer(): Promise<void> {
    const mails = CUSTOMERS.map((group, i) => ({ payload: { number: i + 1 }, delay: '1s', group }) as const);
    const [first] = await this.producer.offerMany<Mail>('mails', mails);
    await this.trials.tell('mails', `${mails.length} mails are due in`, { dueAt: first?.dueAt.toISOString() });
  }

  // One mail at a time, so that the turns can be seen.
  @DelayedHandler('mails', { concurrency: 1, groups: { concurrency: 1 } })
  async send({ number }: Mail, { group, lateness, signal }: DelayedMessage): Promise<void> {
    await this.trials.tell('mails', `Mail ${number} to ${group}`, { lateBy: lateness });
    await sleep(SENDING, undefined, { signal });
  }
}
