import type { BaseAdapter } from '@bull-board/api/baseAdapter';
import type { DelayQueueProducer } from 'nestjs-delay-queue';
import type { BoardAdapterOptions } from './board-queue.js';
import { DelayQueueBoardAdapter } from './delay-queue-board.adapter.js';

/** The part used of what `createBullBoard` returns and `@InjectBullBoard()` injects. */
export interface Board {
  /** Adds a queue, or replaces the one of the same name. */
  addQueue(queue: BaseAdapter): void;
}

/**
 * Adds all queues that `producer.queues()` lists now: those that messages were ever offered to, or that a process has ever handled. Call it
 * again for later ones.
 * @param options - of bull-board, for each of the queues
 * @returns the names of the queues
 * @example
 * ```ts
 * const board = createBullBoard({ queues: [], serverAdapter });
 * await addDelayQueues(board, producer, { readOnlyMode: true });
 * ```
 */
export async function addDelayQueues(
  board: Board,
  producer: DelayQueueProducer,
  options?: BoardAdapterOptions,
): Promise<string[]> {
  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await producer.queues(cursor === undefined ? {} : { cursor });
    names.push(...page.queues);
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined);
  for (const name of names) board.addQueue(new DelayQueueBoardAdapter(producer, name, options));
  return names;
}
