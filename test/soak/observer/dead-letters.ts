import { NestFactory } from '@nestjs/core';
import { DelayQueueModule, DelayQueueProducer } from '../../../lib/index.js';
import { QUEUE_NAMES } from '../workload/message-plan.js';

class Undertaker {}

/** Takes the dead letters out of all queues; returns the numbers of their messages. */
export async function collectDeadLetters(redisUrl: string, prefix: string): Promise<Set<number>> {
  const app = await NestFactory.createApplicationContext(
    { module: Undertaker, imports: [DelayQueueModule.forRoot({ connection: redisUrl, prefix, consume: false })] },
    { logger: false },
  );
  const producer = app.get(DelayQueueProducer, { strict: false });
  const numbers = new Set<number>();
  for (const queue of QUEUE_NAMES) {
    const letters = producer.deadLetters(queue);
    let cursor: string | undefined;
    do {
      const page = await letters.list({ limit: 1000, ...(cursor !== undefined && { cursor }) });
      for (const { headers } of page.letters) numbers.add(Number(headers.n));
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined);
    await letters.discardAll();
  }
  await app.close();
  return numbers;
}
