import type { MessageSnapshot, MessageState } from '../message/message.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { showGiven } from '../message/show-given.js';
import type { Queue } from '../runtime/queues.js';
import type { MessagePage, MessageQuery } from './message-page.js';
import { readPlacedPage } from './read-page.js';
import { snapshotOf } from './snapshot.js';

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
  return { ...page, messages: page.messages.map((message) => snapshotOf<T>(queue, message)) };
}
