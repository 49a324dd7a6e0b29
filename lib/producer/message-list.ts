import type { MessageSnapshot, MessageState } from '../message/message.js';
import { DelayQueueError } from '../message/delay-queue.errors.js';
import { showGiven } from '../message/show-given.js';
import type { Queue } from '../runtime/queues.js';
import { readPlacedPage } from './read-page.js';
import { snapshotOf } from './snapshot.js';

/** Which messages of a state to list. */
export interface MessageQuery {
  /** The `cursor` of the previous page. Default: the first page. */
  readonly cursor?: string;
  /** How many messages come before the page, instead of a `cursor`: to begin in the middle. Default: 0. */
  readonly offset?: number;
  /** The maximum number of messages, 1–1000. Default: 100. */
  readonly limit?: number;
}

/**
 * One page of messages.
 *
 * @typeParam Snapshot - what a message looks like
 */
export interface MessagePage<Snapshot = MessageSnapshot> {
  /** In the order of the state. */
  readonly messages: readonly Snapshot[];
  /** For the next page; null if this is the last one. */
  readonly cursor: string | null;
}

const STATES: readonly unknown[] = ['delayed', 'ready', 'active', 'dead'] satisfies MessageState[];

/**
 * Lists a page of the messages in a state.
 *
 * @throws DelayQueueError `INVALID_ARGUMENT`
 */
export async function listMessages<T>(
  queue: Queue,
  state: MessageState,
  query: MessageQuery | undefined,
): Promise<MessagePage<MessageSnapshot<T>>> {
  if (!STATES.includes(state)) {
    const names = STATES.join(', ');
    throw new DelayQueueError('INVALID_ARGUMENT', `state: must be one of ${names}, not ${showGiven(state)}`);
  }
  const page = await queue.store.list({ state, ...readPlacedPage(query) });
  return { messages: page.messages.map((message) => snapshotOf<T>(queue, message)), cursor: page.cursor };
}
