'use strict';

/** The example: a handler and its test, for jest and vitest with globals, as `nest new` sets them up. */

module.exports.exampleHandler = () => `import { Injectable, Logger } from '@nestjs/common';
import { DelayedHandler, DelayQueueProducer } from 'nestjs-delay-queue';

/** An example: reminds of what was planned, when it is time. */
@Injectable()
export class Reminders {
  readonly reminded: string[] = [];
  private readonly logger = new Logger(Reminders.name);

  constructor(private readonly producer: DelayQueueProducer) {}

  /** @param delay - such as '30m', or ms */
  async plan(text: string, delay: string | number): Promise<void> {
    await this.producer.offer('reminders', { text }, delay);
  }

  @DelayedHandler('reminders')
  remind({ text }: { text: string }): void {
    this.logger.log(text);
    this.reminded.push(text);
  }
}
`;

module.exports.exampleTest = (suffix) => `import { Test } from '@nestjs/testing';
import { DelayQueueModule } from 'nestjs-delay-queue';
import {
  DelayQueueTester,
  DelayQueueTestingModule,
} from 'nestjs-delay-queue/testing';
import { Reminders } from './reminders${suffix}';

describe('Reminders', () => {
  it('reminds when it is time, and not before', async () => {
    const app = await Test.createTestingModule({
      imports: [
        DelayQueueModule.forRoot({ store: 'memory' }),
        DelayQueueTestingModule,
      ],
      providers: [Reminders],
    }).compile();
    await app.init();
    const reminders = app.get(Reminders);
    const queue = app.get(DelayQueueTester);

    await reminders.plan('Water the plants', '2d');
    await queue.advance('47h');
    expect(reminders.reminded).toEqual([]);
    await queue.advance('1h');
    expect(reminders.reminded).toEqual(['Water the plants']);

    await app.close();
  });
});
`;
