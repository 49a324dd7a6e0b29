import { hasCode } from '../message/failure.js';
import type { DelayQueueProducer } from '../producer/delay-queue.producer.js';
import type { QueueStatus } from '../store/message-upkeep.js';
import { lacksPermission } from '../store/redis/redis-errors.js';
import { Refusal } from './exit-codes.js';
import { nearest } from './text/nearest.js';

const PAGE = 1000;

export async function* pagesOfQueues(producer: DelayQueueProducer): AsyncGenerator<readonly string[]> {
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await producer.queues({ limit: PAGE, ...(cursor !== undefined && { cursor }) });
    yield page.queues;
    cursor = page.cursor;
  }
}

export async function allQueues(producer: DelayQueueProducer): Promise<string[]> {
  const queues: string[] = [];
  for await (const page of pagesOfQueues(producer)) queues.push(...page);
  return queues;
}

interface Looking {
  readonly producer: DelayQueueProducer;
  readonly status: (queue: string) => Promise<QueueStatus>;
}

/**
 * Checks that there is such a queue. One with messages, or that is paused, is there whatever its name; of an empty one, the name
 * tells.
 *
 * @throws Refusal
 */
export async function assertExists(queue: string, { producer, status }: Looking, prefix: string): Promise<void> {
  const { counts, paused } = await status(queue);
  if (paused || Object.values(counts).some((count) => count > 0)) return;
  const names = await readableNames(producer);
  if (!names || names.includes(queue)) return;
  const meant = nearest(queue, names).map((name) => `'${name}'`);
  const advice = meant.length > 0 ? `Did you mean ${meant.join(' or ')}?` : 'See: nestjs-delay-queue queues';
  throw new Refusal(`There is no queue '${queue}' with the prefix '${prefix}'. ${advice}`);
}

/** @returns undefined if the Redis user may not read them */
async function readableNames(producer: DelayQueueProducer): Promise<string[] | undefined> {
  try {
    return await allQueues(producer);
  } catch (error) {
    if (hasCode(error, 'STORE_REFUSED') && lacksPermission(error.cause)) return undefined;
    throw error;
  }
}
