import { readContent } from '../message/codec/read-content.js';
import { unwrapSetAside } from '../message/codec/set-aside-body.js';
import type { Expiry } from '../message/expiry.js';
import { dateOf } from '../message/date-of.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import type { MessageFailure, MessageSnapshot, MessageState } from '../message/message.js';
import { showGiven } from '../message/show-given.js';
import type { Queue } from '../runtime/queues.js';
import type { StoredMessage } from '../store/admin-store.js';
import { type MessageQuery, readPlacedPage } from './read-page.js';

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
  /** The partitions that did not answer, as in {@link QueueCounts}. */
  readonly missing?: readonly number[];
}

const STATES: readonly unknown[] = ['delayed', 'ready', 'active', 'dead'] satisfies MessageState[];

/**
 * Lists a page of the messages in a state.
 *
 * @typeParam Snapshot - what messages in this state look like
 * @throws DelayQueueError `INVALID_ARGUMENT`
 */
export async function listMessages<Snapshot extends MessageSnapshot>(
  queue: Queue,
  state: MessageState,
  query: MessageQuery | undefined,
): Promise<MessagePage<Snapshot>> {
  assertState(state);
  const page = await queue.store.list({ state, ...readPlacedPage(query) });
  return { ...page, messages: page.messages.map((message) => snapshotOf(queue, message) as Snapshot) };
}

/** @throws DelayQueueError `INVALID_ARGUMENT` */
export function assertState(state: unknown): asserts state is MessageState {
  if (STATES.includes(state)) return;
  const problem = `state: must be one of ${STATES.join(', ')}, not ${showGiven(state)}`;
  throw new DelayQueueError('INVALID_ARGUMENT', problem);
}

/** Shows a user what a store keeps. A body that cannot be decoded is shown as its bytes. */
export function snapshotOf<T>(known: Queue, message: StoredMessage): MessageSnapshot<T> {
  const { id, state, body, failedAttempts, dueAt, offeredAt, leasedUntil, death } = message;
  const { expiry, repeat, ...content } = readContent<T>(known.codec, body);
  const expiresAt = state === 'dead' ? undefined : deadlineOf(known, message, expiry);
  return {
    id,
    queue: known.name,
    state,
    ...content,
    failedAttempts,
    dueAt: dateOf(dueAt),
    offeredAt: dateOf(offeredAt),
    ...(expiresAt && { expiresAt }),
    ...(repeat && { repeat }),
    ...(leasedUntil !== null && { leasedUntil: dateOf(leasedUntil) }),
    ...(death !== null && { diedAt: dateOf(death.at), error: readFailure(death.error) }),
  };
}

/** When a message expires, as far as this process knows: what the message does not say, the options of its worker do. */
function deadlineOf({ options }: Queue, { body, dueAt }: StoredMessage, expiry: Expiry | undefined): Date | undefined {
  if (!options.layout.can.expiry) return undefined;
  const { after } = expiry ?? { after: options.expiresAfter };
  return after === null ? undefined : dateOf((unwrapSetAside(body).since ?? dueAt) + after);
}

/** Whatever is stored, it must not hide the message. */
function readFailure(text: string): MessageFailure {
  try {
    const { name, message, stack } = JSON.parse(text) as Partial<Record<keyof MessageFailure, unknown>>;
    if (typeof name === 'string' && typeof message === 'string') {
      return { name, message, ...(typeof stack === 'string' && { stack }) };
    }
  } catch {
    // Somebody else has written it.
  }
  return { name: 'Unknown', message: `The error of this dead letter cannot be read: ${text}` };
}
