import { DelayQueueError } from '../message/delay-queue-errors.js';
import type { MessageCodec } from '../message/codec/message-codec.js';
import { type MessagePage, type MessageQuery, readPlacedPage } from '../message/page.js';
import { readFields } from '../message/read-fields.js';
import { showGiven } from '../message/show-given.js';
import type { Layout } from '../store/layout.js';
import type { Router } from '../store/router.js';
import { unsupported } from '../store/unsupported.js';
import type { WholeQueue } from '../store/whole-queue.js';
import { type HandledMessage, handledMessageOf } from './handled-message.js';

/** A queue that may remember handled messages. */
interface RememberingQueue {
  readonly name: string;
  readonly codec: MessageCodec;
  readonly options: { readonly layout: Layout };
  readonly router: Pick<Router, 'lookUp'>;
  readonly store: Pick<WholeQueue, 'list'>;
}

/** Selects what `find` finds. */
interface FindOptions {
  /** True: also a handled message that the queue remembers, if no other has the id. Default: false. */
  readonly handled?: boolean | undefined;
}

/** Returns true if handled messages are to be found, too. @throws DelayQueueError `INVALID_ARGUMENT`, `UNSUPPORTED_BY_LAYOUT` */
export function readFindOptions(queue: RememberingQueue, options: FindOptions | undefined): boolean {
  const { handled = false } = options === undefined ? {} : readFields(options, 'options', ['handled']);
  if (typeof handled !== 'boolean') {
    throw new DelayQueueError('INVALID_ARGUMENT', `handled must be true or false, not ${showGiven(handled)}`);
  }
  if (handled) assertRemembers(queue, `find('${queue.name}', …, { handled: true })`);
  return handled;
}

export async function findHandledMessage(queue: RememberingQueue, id: string): Promise<HandledMessage | null> {
  const found = await queue.router.lookUp(id, async (store) => (await store.findHandled?.(id)) ?? null);
  return found && handledMessageOf(queue, found);
}

export async function listHandled(
  queue: RememberingQueue,
  query: MessageQuery | undefined,
): Promise<MessagePage<HandledMessage>> {
  const place = readPlacedPage(query);
  assertRemembers(queue, `list('${queue.name}', 'handled')`);
  const page = await queue.store.list({ state: 'handled', ...place });
  return { ...page, messages: page.messages.map((message) => handledMessageOf(queue, message)) };
}

/** Throws `UNSUPPORTED_BY_LAYOUT` if the queue cannot have a history. */
function assertRemembers(queue: RememberingQueue, what: string): void {
  if (!queue.options.layout.can.history) throw unsupported(queue, what);
}
