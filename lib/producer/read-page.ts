import { DelayQueueError } from '../message/delay-queue.errors.js';
import { readFields } from '../message/read-fields.js';
import { showGiven } from '../message/show-given.js';
import { MAX_BATCH } from '../timing/turn-batcher.js';

interface PageQuery {
  readonly cursor?: string;
  readonly limit?: number;
}

const QUERY: readonly (keyof PageQuery)[] = ['cursor', 'limit'];

/**
 * Reads which page of a list a user asks for.
 *
 * @throws DelayQueueError `INVALID_ARGUMENT`
 */
export function readPage(query: PageQuery | undefined): { cursor: string | undefined; limit: number } {
  const { cursor, limit = 100 } = query === undefined ? {} : readFields(query, 'query', QUERY);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_BATCH) {
    throw new DelayQueueError(
      'INVALID_ARGUMENT',
      `limit must be a whole number from 1 to ${MAX_BATCH}, not ${showGiven(limit)}`,
    );
  }
  if (cursor !== undefined && typeof cursor !== 'string') {
    throw new DelayQueueError(
      'INVALID_ARGUMENT',
      `cursor must be the \`cursor\` of an earlier page, not ${showGiven(cursor)}`,
    );
  }
  return { cursor, limit };
}
