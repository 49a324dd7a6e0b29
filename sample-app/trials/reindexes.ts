import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DelayedHandler, type DelayedMessage, DelayQueueProducer } from 'nestjs-delay-queue';
import { Trials } from './trials.js';

interface Reindex {
  readonly change: number;
}

const INDEXING = 3000;

/** An index that is rebuilt after changes, by one run at a time. */
@Injectable()
export class Reindexes {
  #changes = 0;

  constructor(
    private readonly producer: DelayQueueProducer,
    private readonly trials: Trials,
  ) {}

  async change(): Promise<void> {
    const reindex: Reindex = { change: ++this.#changes };
    const { follows } = await this.producer.offer('reindexes', reindex, 0, { id: 'catalogue', onDuplicate: 'follow' });
    const text = `Change ${reindex.change} came meanwhile: one more run follows`;
    if (follows) await this.trials.tell('reindexes', text, { line: 'follows' });
  }

  @DelayedHandler('reindexes')
  async run({ change }: Reindex, { signal }: DelayedMessage): Promise<void> {
    await this.trials.tell('reindexes', `A run begins, with change ${change}`);
    await sleep(INDEXING, undefined, { signal });
    await this.trials.tell('reindexes', 'The run ends');
  }
}
