import { DelayQueueError } from './delay-queue-errors.js';
import type { MessageSnapshot, MessageState } from './message.js';
import { readFields, readWholeNumber } from './read-fields.js';
import { showGiven } from './show-given.js';

/** The maximum number of messages in one call to a store, which is also the limit of the scripts. */
export const MAX_BATCH = 1000;

/** Selects a page of a list. */
export interface PageQuery {
  /** The `cursor` of the previous page. Default: the first page. */
  readonly cursor?: string | undefined;
  /** The maximum number of entries on a page, 1–1000. Default: 100. */
  readonly limit?: number | undefined;
}

/** Selects which messages of a state to list. */
export interface MessageQuery extends PageQuery {
  /** How many messages to skip, to begin in the middle; cannot be combined with `cursor`. Default: 0. */
  readonly offset?: number | undefined;
}

/**
 * One page of messages.
 * @typeParam Snapshot - the type of a message
 */
export interface MessagePage<Snapshot = MessageSnapshot> {
  /** The messages, in the order that `list` describes for their state. */
  readonly messages: readonly Snapshot[];
  /** Pass this to get the next page; null on the last page. */
  readonly cursor: string | null;
  /** The partitions that did not answer, as in {@link QueueCounts}. */
  readonly missing?: readonly number[];
}

interface PlacedPage {
  readonly from: { readonly cursor: string } | { readonly offset: number };
  readonly limit: number;
}

const STATES: readonly unknown[] = ['delayed', 'ready', 'active', 'dead'] satisfies MessageState[];

/** @param others - what else may be given where this is called from */
export function assertState(state: unknown, others: readonly string[] = []): asserts state is MessageState {
  if (STATES.includes(state)) return;
  const hint = state === 'handled' ? ': handled messages can be listed and found, no more' : '';
  const problem = `state: must be one of ${[...STATES, ...others].join(', ')}, not ${showGiven(state)}${hint}`;
  throw new DelayQueueError('INVALID_ARGUMENT', problem);
}

/** Reads a user's query for a page, or throws `INVALID_ARGUMENT`. */
export function readPage(query: PageQuery | undefined): { cursor: string | undefined; limit: number } {
  const { cursor, limit } = query === undefined ? {} : readFields(query, 'query', ['cursor', 'limit']);
  return { cursor: checkCursor(cursor), limit: checkLimit(limit) };
}

/** Reads a user's query for a page that may begin anywhere, or throws `INVALID_ARGUMENT`. */
export function readPlacedPage(query: MessageQuery | undefined): PlacedPage {
  const { offset, ...page } = query === undefined ? {} : readFields(query, 'query', ['cursor', 'offset', 'limit']);
  const limit = checkLimit(page.limit);
  const cursor = checkCursor(page.cursor);
  if (cursor === undefined) return { from: { offset: checkOffset(offset) }, limit };
  if (offset === undefined) return { from: { cursor }, limit };
  throw new DelayQueueError('INVALID_ARGUMENT', 'query: a page begins at a cursor or at an offset, not at both');
}

function checkLimit(limit = 100): number {
  return readWholeNumber('limit', limit, [1, MAX_BATCH]);
}

function checkOffset(offset = 0): number {
  if (Number.isSafeInteger(offset) && offset >= 0) return offset;
  throw new DelayQueueError('INVALID_ARGUMENT', `offset must be a whole number from 0 on, not ${showGiven(offset)}`);
}

function checkCursor(cursor: string | undefined): string | undefined {
  if (cursor === undefined || typeof cursor === 'string') return cursor;
  throw new DelayQueueError(
    'INVALID_ARGUMENT',
    `cursor must be the \`cursor\` of an earlier page, not ${showGiven(cursor)}`,
  );
}
