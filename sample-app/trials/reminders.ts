import { Injectable } from '@nestjs/common';
import { DelayedHandler, type DelayedMessage, DelayQueueProducer } from 'nestjs-delay-queue';
import { Trials } from './trials.js';

interface Reminder {
  readonly text: string;
}

const ID = 'every-2s';

/** Reminders by calendars: one that the shop always has, and one that people start and stop. */
@Injectable()
export class Reminders {
  constructor(
    private readonly producer: DelayQueueProducer,
    private readonly trials: Trials,
  ) {}

  async start(): Promise<void> {
    const rule = { cron: '*/2 * * * * *', missed: 'skip' } as const;
    const { dueAt } = await this.producer.repeat<Reminder>('reminders', ID, rule, { text: 'Blink' });
    await this.trials.tell('reminders', 'The next one comes in', { dueAt: dueAt.toISOString(), line: 'next' });
  }

  async stop(): Promise<void> {
    const wasOn = await this.producer.cancel('reminders', ID);
    await this.trials.tell('reminders', wasOn ? 'Stopped' : 'Nothing to stop');
  }

  @DelayedHandler('reminders', { repeat: { cron: '* * * * *', missed: 'skip', payload: { text: 'Drink some water' } } })
  async remind({ text }: Reminder, { repeat, lateness }: DelayedMessage): Promise<void> {
    await this.trials.tell('reminders', text, { at: repeat?.at.toISOString(), lateBy: lateness });
  }
}
