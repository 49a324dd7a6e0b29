import { NestFactory } from '@nestjs/core';
import { DelayQueueModule, DelayQueueProducer } from '../../../lib/index.js';
import { moduleOptions } from '../processes/module-options.js';
import type { ProcessSettings } from '../processes/process-settings.js';
import { numbersIn } from '../workload/content.js';
import { QUEUE_NAMES } from '../workload/message-plan.js';

class Undertaker {}

/** Removes the dead letters from all queues and returns the numbers of their messages. */
export async function collectDeadLetters(
  settings: Pick<ProcessSettings, 'soak' | 'connection' | 'prefix' | 'partitions'>,
): Promise<Set<number>> {
  const app = await NestFactory.createApplicationContext(
    { module: Undertaker, imports: [DelayQueueModule.forRoot({ ...moduleOptions(settings), consume: false })] },
    { logger: false },
  );
  const producer = app.get(DelayQueueProducer, { strict: false });
  const numbers = new Set<number>();
  for (const queue of QUEUE_NAMES) {
    const letters = producer.deadLetters(queue);
    let cursor: string | undefined;
    do {
      const page = await letters.list({ limit: 1000, ...(cursor !== undefined && { cursor }) });
      for (const { payload } of page.messages) numbers.add(numbersIn(payload).n);
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined);
    await letters.discardAll();
  }
  await app.close();
  return numbers;
}
