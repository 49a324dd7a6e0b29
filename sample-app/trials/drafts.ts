import { Injectable } from '@nestjs/common';
import { DelayedHandler, DelayQueueProducer } from 'nestjs-delay-queue';
import { Trials } from './trials.js';

interface Draft {
  readonly edit: number;
}

/** A draft that is saved once its author rests, but not later than 5 s after the first edit. */
@Injectable()
export class Drafts {
  #edits = 0;

  constructor(
    private readonly producer: DelayQueueProducer,
    private readonly trials: Trials,
  ) {}

  async edit(): Promise<void> {
    const draft: Draft = { edit: ++this.#edits };
    const { dueAt } = await this.producer.offer('drafts', draft, '2s', {
      id: 'draft',
      onDuplicate: 'replace',
      maxWait: '5s',
    });
    await this.trials.tell('drafts', `Edit ${draft.edit} is saved in`, { dueAt: dueAt.toISOString(), line: 'edit' });
  }

  @DelayedHandler('drafts')
  async save({ edit }: Draft): Promise<void> {
    await this.trials.tell('drafts', `Saved once, with edit ${edit}`);
  }
}
