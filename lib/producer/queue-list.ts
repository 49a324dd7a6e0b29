import { DelayQueueError } from '../message/delay-queue-errors.js';
import { QUEUE_NAME } from '../message/queue-name.js';
import type { QueueDirectory } from '../store/queue-directory.js';
import { type PageQuery, readPage } from './read-page.js';

/** One page of queues. */
export interface QueuePage {
  /** Their names, in the order of their characters. */
  readonly queues: readonly string[];
  /** For the next page; null if this is the last one. */
  readonly cursor: string | null;
}

/**
 * Lists a page of the queues in a directory. The cursor is the last name of a page, which never goes away.
 *
 * @throws DelayQueueError `INVALID_ARGUMENT`
 */
export async function listQueues(directory: QueueDirectory, query: PageQuery | undefined): Promise<QueuePage> {
  const { cursor = '', limit } = readPage(query);
  if (cursor !== '' && !QUEUE_NAME.test(cursor)) {
    throw new DelayQueueError('INVALID_ARGUMENT', 'cursor must be the `cursor` of an earlier page');
  }
  const found = await directory.list({ after: cursor, limit: limit + 1 });
  const queues = found.slice(0, limit);
  return { queues, cursor: found.length > limit ? queues.at(-1)! : null };
}
