import { readContent, storedError } from '../message/codec/message-codec.js';
import { unwrapPutOff } from '../message/codec/body-forms.js';
import { dateOf } from '../message/duration.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import type { Expiry } from '../message/expiry.js';
import { NO_TYPE } from '../message/message-id.js';
import { shownRetries } from '../message/retries.js';
import { readFailure } from '../message/failure.js';
import type { MessageCounts, MessageSnapshot, MessageState } from '../message/message.js';
import {
  assertState,
  type MessagePage,
  type MessageQuery,
  type PageQuery,
  readPage,
  readPlacedPage,
} from '../message/page.js';
import { QUEUE_NAME } from '../message/queue-name.js';
import type { Queue } from '../runtime/queues.js';
import type { StoredMessage } from '../store/admin-store.js';
import type { QueueDirectory } from '../store/queue-directory.js';

export interface QueueCounts extends MessageCounts {
  /**
   * The indexes, from 0, of the partitions that did not answer; their messages are left out. Absent if all answered, and always absent
   * without `partitions`, where an unanswered read fails.
   */
  readonly missing?: readonly number[];
}

/** A queue, as of one instant in each partition. */
export interface QueueStatus extends QueueCounts {
  /** The time by Redis' clock. */
  readonly now: Date;
  /** When the next delayed message falls due, by Redis' clock; null if none is delayed. */
  readonly nextDue: Date | null;
  /** True if the queue is paused. */
  readonly isPaused: boolean;
  /** The layout's name. */
  readonly layout: string;
  /** What the layout can do. */
  readonly can: {
    /** True if messages can have headers. */
    readonly headers: boolean;
    /** True if messages can have types. */
    readonly types: boolean;
    /** True if messages can expire. */
    readonly expiry: boolean;
    /** True if the payload, headers and type of a delayed message can change. */
    readonly changes: boolean;
    /** True if messages can have groups, and the queue's options provide for them. */
    readonly groups: boolean;
    /** True if messages can repeat. */
    readonly repeats: boolean;
    /** True if the queue can remember handled messages, whether or not it does. */
    readonly history: boolean;
  };
}

/** One page of queues. */
export interface QueuePage {
  /** The queues' names, in ASCII order. */
  readonly queues: readonly string[];
  /** Pass this to get the next page; null on the last page. */
  readonly cursor: string | null;
}

export async function readStatus({ store, options, router }: Queue): Promise<QueueStatus> {
  const { counts, missing, now, nextDue, paused } = await store.status();
  const { name, can } = options.layout;
  const { headers, types, expiry, changes, repeats, history } = can;
  return {
    ...counts,
    ...(missing && { missing }),
    now: dateOf(now),
    nextDue: nextDue === null ? null : dateOf(nextDue),
    isPaused: paused,
    layout: name,
    can: { headers, types, expiry, changes, groups: router.groups !== undefined, repeats, history },
  };
}

export async function listMessages<Snapshot extends MessageSnapshot>(
  queue: Queue,
  state: MessageState,
  query: MessageQuery | undefined,
): Promise<MessagePage<Snapshot>> {
  assertState(state, ['handled']);
  const page = await queue.store.list({ state, ...readPlacedPage(query) });
  return { ...page, messages: page.messages.map((message) => snapshotOf(queue, message) as Snapshot) };
}

/** Converts a stored message to the form that users see. A body that cannot be decoded is shown as its bytes. */
export function snapshotOf<T>(known: Queue, message: StoredMessage): MessageSnapshot<T> {
  const { id, state, body, failedAttempts, dueAt, offeredAt, leasedUntil, death } = message;
  const { expiry, retries, repeat, ...content } = readContent<T>(known.codec, body);
  const expiresAt = state === 'dead' ? undefined : deadlineOf(known, message, expiry);
  return {
    id,
    queue: known.name,
    state: state as MessageState,
    ...content,
    ...(retries && shownRetries(retries)),
    failedAttempts,
    dueAt: dateOf(dueAt),
    offeredAt: dateOf(offeredAt),
    ...(expiresAt && { expiresAt }),
    ...(repeat && { repeat }),
    ...(leasedUntil !== null && { leasedUntil: dateOf(leasedUntil) }),
    ...(death !== null && { diedAt: dateOf(death.at), error: readFailure(storedError(known.codec, death.error)) }),
  };
}

/** Returns when a message expires, as far as this process knows: other processes may have a different `expiresAfter` for the queue. */
function deadlineOf({ options }: Queue, { body, dueAt }: StoredMessage, expiry: Expiry | undefined): Date | undefined {
  if (!options.layout.can.expiry) return undefined;
  const { after } = expiry ?? { after: options.expiresAfter };
  return after === null ? undefined : dateOf((unwrapPutOff(body).since ?? dueAt) + after);
}

/** Adds up the counts of all pages of a queue, by type. Returns a `Map`, because a type may have any name, even `__proto__`. */
export async function countByType<Type extends string>({
  store,
  options,
}: Queue): Promise<ReadonlyMap<Type, MessageCounts>> {
  const counts = new Map<Type, Record<MessageState, number>>();
  let cursor: string | undefined;
  do {
    const page = await store.countTypes(cursor);
    for (const { state, type, count } of page.counts) {
      // In memory, a payload of a layout without types may look like a body with a type.
      const name = (options.layout.can.types ? type : NO_TYPE) as Type;
      const ofType = counts.get(name) ?? { delayed: 0, ready: 0, active: 0, dead: 0 };
      ofType[state] += count;
      counts.set(name, ofType);
    }
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined);
  return counts;
}

/** Lists one page of the queues in a directory. The cursor is the last name on a page; it stays valid even if that queue is gone. */
export async function listQueues(directory: QueueDirectory, query: PageQuery | undefined): Promise<QueuePage> {
  const { cursor = '', limit } = readPage(query);
  if (cursor !== '' && !QUEUE_NAME.test(cursor)) {
    throw new DelayQueueError('INVALID_ARGUMENT', 'cursor must be the `cursor` of an earlier page');
  }
  const found = await directory.list({ after: cursor, limit: limit + 1 });
  const queues = found.slice(0, limit);
  return { queues, cursor: found.length > limit ? queues.at(-1)! : null };
}
