import { DelayQueueError, type DelayQueueProducer } from 'nestjs-delay-queue';
import { type InspectedQueue, nearestNames } from 'nestjs-delay-queue/diagnosis';
import { Refusal } from './exit-codes.js';

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
  readonly inspect: (queue: string) => Promise<InspectedQueue>;
}

/**
 * Checks that a queue exists. One with messages, or a paused one, exists whatever its name; an empty one only if its name is listed.
 * @throws Refusal
 */
export async function assertExists(queue: string, { producer, inspect }: Looking, prefix: string): Promise<void> {
  const { counts, paused } = await inspect(queue);
  if (paused || Object.values(counts).some((count) => count > 0)) return;
  const names = await readableNames(producer);
  if (!names || names.includes(queue)) return;
  const meant = nearestNames(queue, names).map((name) => `'${name}'`);
  const advice = meant.length > 0 ? `Did you mean ${meant.join(' or ')}?` : 'See: nestjs-delay-queue-cli queues';
  throw new Refusal(`There is no queue '${queue}' with the prefix '${prefix}'. ${advice}`);
}

/** @returns undefined if Redis refuses to read them, for example because a permission is missing */
async function readableNames(producer: DelayQueueProducer): Promise<string[] | undefined> {
  try {
    return await allQueues(producer);
  } catch (error) {
    if (error instanceof DelayQueueError && error.code === 'STORE_REFUSED') return undefined;
    throw error;
  }
}
