import { type GroupList, listGroups } from '../groups/group-list.js';
import { type MessageGroup, StoredGroup } from '../groups/message-group.js';
import { findHandledMessage, listHandled, readFindOptions } from '../history/find-handled.js';
import type { HandledMessage } from '../history/handled-message.js';
import { countByDue, type DueHistogram, type HistogramQuery } from '../search/due-histogram.js';
import { type MatchingMessages, StoredMatches } from '../search/matching-messages.js';
import { type QueueLimits, StoredLimits } from '../limits/queue-limits.js';
import { CheckedFilter, type MessageFilter } from '../search/message-filter.js';
import { searchPage, type SearchPage } from '../search/search-messages.js';
import type { TypesOf } from '../options/queue-definition.js';
import { type CheckedDue, dateOf, type Duration } from '../message/duration.js';
import { assertGroup, assertMessageId } from '../message/message-id.js';
import type { DeadLetter, MessageCounts, MessageSnapshot, MessageState } from '../message/message.js';
import { type MessagePage, type MessageQuery, type PageQuery, readPage } from '../message/page.js';
import type { PayloadCheck } from '../message/payload-check.js';
import type { RepeatProgress } from '../message/repeat-rule.js';
import type { Retries } from '../message/retries.js';
import type { RepeatOptions, RepeatTimes } from '../options/queue-options.js';
import { type Queue, Queues } from '../runtime/queues.js';
import type { StoredMessage } from '../store/admin-store.js';
import type { MessageStore } from '../store/message-store.js';
import { Changes, type MessageChange, type PayloadRules } from './changes.js';
import { type DeadLetters, StoreDeadLetters } from './dead-letters.js';
import type { CheckedRequests, OfferOptions, OfferRequest, OfferResult } from './offer.js';
import {
  countByType,
  listMessages,
  type QueueCounts,
  type QueueStatus,
  readStatus,
  snapshotOf,
} from './queue-views.js';
import type { HandledOf, SnapshotOf, TypedChange, TypedOfferRequest } from './typed-messages.js';
import { assertGrouped, assertKeepsIds } from './assert-supported.js';
import { Inject, Injectable } from '@nestjs/common';
import type { Stores } from '../runtime/create-stores.js';
import { REPEATS, STORES } from '../runtime/delay-queue-tokens.js';
import { QueueRegistrar } from '../runtime/queue-registrar.js';
import { Offers } from './offers.js';
import type { RepeatingMessages } from './repeating-messages.js';

/** The property that holds the {@link QueueParts} of the producer and of the typed queues. It is the same in all copies of the package. */
export const PARTS: unique symbol = Symbol.for('nestjs-delay-queue:parts');

export interface RepeatRequest {
  readonly id: string;
  /** Undefined if `options` may name the type. */
  readonly type?: string;
  readonly options: RepeatOptions & Pick<OfferOptions, 'type'>;
  readonly payload: unknown;
  readonly check?: PayloadCheck | undefined;
  /** The attempts and backoff of the type. */
  readonly retries?: Retries | undefined;
}

/** Selects the times of a rule. */
export interface OccurrenceQuery {
  readonly after?: Date | undefined;
  readonly count?: number | undefined;
}

/** Offers messages that repeat. */
export interface OfferedRepeats {
  repeat(queue: Queue, request: RepeatRequest): Promise<OfferResult>;
  /** Returns a rule's next times; fewer than `count` if it has no more. */
  occurrences(rule: RepeatTimes | RepeatProgress, query: OccurrenceQuery | undefined): Date[];
  /** Gives access to the messages of a queue that repeat. @throws DelayQueueError `UNSUPPORTED_BY_LAYOUT` */
  of(queue: Queue): RepeatingMessages;
}

/** The services behind the methods of the producer and the typed queues. */
@Injectable()
export class QueueParts {
  @Inject() readonly queues!: Queues;
  @Inject() readonly registrar!: QueueRegistrar;
  @Inject() readonly offers!: Offers;
  @Inject() readonly changes!: Changes;
  @Inject(REPEATS) readonly repeats!: OfferedRepeats;
  @Inject(STORES) readonly stores!: Pick<Stores, 'limits'>;
}

// These are symbols, so they cannot collide with the properties of a class that extends a typed queue.
/** @internal */
export const NAMED: unique symbol = Symbol('named');
/** @internal */
export const RULES: unique symbol = Symbol('rules');

/**
 * The methods that the producer and the typed queues share. The producer's take the queue's name first: 1–128 of `A–Z a–z 0–9 _ . : -`.
 * @typeParam Name - `[queue: string]`, or `[]` for a typed queue
 * @typeParam Payloads - the payloads given to `DelayQueue()`; `unknown` for the producer
 */
export abstract class QueueMethods<Name extends readonly unknown[], Payloads> {
  /** @internal */
  abstract readonly [PARTS]: QueueParts;
  /** @internal The rules of a typed queue. */
  readonly [RULES]: PayloadRules | undefined;

  /** @internal Returns the queue of a call, and the arguments that follow the queue's name. */
  abstract [NAMED]<Rest extends readonly unknown[]>(args: readonly [...Name, ...Rest]): [queue: Queue, ...rest: Rest];

  /**
   * Offers many messages in few calls. All are checked before the first is written; then each is accepted or refused (`DUPLICATE_MESSAGE`,
   * `QUEUE_FULL`) on its own.
   * - `messages`: an array; each message has a `payload`, either a `delay` or `at` (a `Date`), and the options of `offer`
   * @returns the results in the order of the messages
   * @throws DelayQueueError as `offer`; if some were refused, `cause.errors` has an error for each. With `partitions`, some may be written
   *   while others fail: the error then names those not known to be written, with an error for each in `cause.errors`
   * @example
   * ```ts
   * await producer.offerMany('orders', orders.map(({ id }) => ({ payload: { orderId: id }, delay: '30m' })));
   * await producer.offerMany('reminders', appointments.map(({ userId, startsAt }) => ({ payload: { userId }, at: startsAt })));
   * ```
   */
  async offerMany<T, const Delays extends readonly Duration[] = readonly Duration[]>(
    ...args: [
      ...Name,
      messages: CheckedRequests<unknown extends Payloads ? OfferRequest<T> : TypedOfferRequest<Payloads>, Delays>,
    ]
  ): Promise<OfferResult[]> {
    const [queue, messages] = this[NAMED]<[readonly OfferRequest[]]>(args);
    return this[PARTS].offers.offerMany(queue, messages, this[RULES]);
  }

  /**
   * Removes a delayed message, or the follower of an active one (`onDuplicate: 'follow'`), and ends a repetition. An occurrence that is
   * already due is still handled, as the last one. If `cancel`, `reschedule` and the due time race, exactly one of them wins.
   * @returns true if something was removed or ended; false if the message is absent, ready, active or dead, and neither repeats nor has a
   *   follower
   * @example
   * ```ts
   * const paidInTime = await producer.cancel('orders', `unpaid:${orderId}`);
   * ```
   */
  async cancel(...args: [...Name, id: string]): Promise<boolean> {
    const [{ router }, id] = this[NAMED](args);
    assertMessageId(id);
    return router.lookUp(id, (store) => store.cancel(id));
  }

  /**
   * Changes a delayed message's due time, and anything else given, in one step. If `cancel`, `reschedule` and the due time race, exactly
   * one of them wins: the handler runs once, with the old payload or the new one, and the result says which.
   * - `due`: a delay from now, 0 ms – 100 years, or a `Date` between 1970 and 9999; by Redis' clock
   * - `change`: `payload`, `headers` (replaces all of them), `type`, `attempts`, `backoff`; an omitted field stays as it is. A message that
   *   has already failed as often as the new `attempts` has one attempt left. Not available in every layout
   * @returns true if the message was rescheduled; false if it is absent, ready, active or dead
   * @throws DelayQueueError also `INVALID_PAYLOAD` and `PAYLOAD_TOO_LARGE`, as `offer`; `INVALID_PAYLOAD` if the stored message cannot be
   *   read; `UNSUPPORTED_BY_LAYOUT`; and `OFFER_TIMEOUT` if others keep changing the same message
   * @example
   * ```ts
   * await producer.reschedule('orders', `unpaid:${orderId}`, '15m');
   * await producer.reschedule('reminders', appointment.id, appointment.startsAt);
   * const paidInTime = await producer.reschedule('orders', `unpaid:${orderId}`, 0, { payload: { orderId, paid: true } });
   * ```
   */
  async reschedule<const Due extends Duration | Date = Duration | Date>(
    ...args: [
      ...Name,
      id: string,
      due: CheckedDue<Due>,
      change?: unknown extends Payloads ? MessageChange : TypedChange<Payloads>,
    ]
  ): Promise<boolean> {
    const [queue, id, due, change] = this[NAMED]<[string, Duration | Date, MessageChange?]>(args);
    return this[PARTS].changes.reschedule(queue, { id, due, change, payloads: this[RULES] });
  }

  /**
   * Stops an active message and removes it. Its handler's `signal` aborts at once, in whichever process the handler runs, and the handler's
   * outcome no longer counts. If the handler ends at the same time, exactly one of the two wins.
   * @returns true if the message was stopped; false if it is not active. To remove a delayed message, use {@link cancel}
   * @example
   * ```ts
   * const isGone = await producer.abort('exports', `export:${orderId}`);
   * ```
   */
  async abort(...args: [...Name, id: string]): Promise<boolean> {
    const [{ router }, id] = this[NAMED](args);
    assertMessageId(id);
    return router.lookUp(id, (store) => store.abort(id));
  }

  /**
   * Frees an id that a queue with the option `idsFor` keeps because a message with it was handled. The next offer with the id is not ignored.
   * @returns true if the id was kept
   * @throws DelayQueueError also `INVALID_ARGUMENT` if the queue keeps no ids, and `UNSUPPORTED_BY_LAYOUT`
   * @example
   * ```ts
   * const wasKept = await producer.freeId('orders', `unpaid:${orderId}`);
   * ```
   */
  async freeId(...args: [...Name, id: string]): Promise<boolean> {
    const [queue, id] = this[NAMED](args);
    assertMessageId(id);
    assertKeepsIds(queue, 'freeId');
    let wasKept = false;
    // Asks every store, because messages with and without a group may have had the same id.
    const ask = async (store: MessageStore) => (wasKept = (await store.freeId!(id)) || wasKept);
    await queue.router.lookUp(id, ask, () => false);
    return wasKept;
  }

  /**
   * Finds a message in any state, with its error if it is a dead letter. Returns null if there is none with this id.
   * @example
   * ```ts
   * const message = await producer.find('orders', `unpaid:${orderId}`);
   * console.log(message?.state, message?.dueAt);
   * ```
   */
  async find<T = unknown>(...args: [...Name, id: string]): Promise<SnapshotOf<Payloads, T> | null>;
  /**
   * Finds a message in any state or, if none has this id, a handled one that a queue with the option `history` remembers.
   * - `options`: `handled: true`
   * @throws DelayQueueError also `UNSUPPORTED_BY_LAYOUT`
   * @example
   * ```ts
   * const message = await producer.find('orders', `unpaid:${orderId}`, { handled: true });
   * if (message?.state === 'handled') console.log(message.handledAt, message.took);
   * ```
   */
  async find<T = unknown>(
    ...args: [...Name, id: string, options: { readonly handled?: boolean | undefined }]
  ): Promise<SnapshotOf<Payloads, T> | HandledOf<Payloads, T> | null>;
  async find(
    ...args: [...Name, id: string, options?: { readonly handled?: boolean | undefined }]
  ): Promise<MessageSnapshot | HandledMessage | null> {
    const [queue, id, options] = this[NAMED]<[string, { readonly handled?: boolean | undefined }?]>(args);
    assertMessageId(id);
    const findHandled = readFindOptions(queue, options);
    const found = await queue.router.lookUp(id, (store) => store.find(id));
    if (found) return snapshotOf(queue, found);
    return findHandled ? findHandledMessage(queue, id) : null;
  }

  /** Lists dead letters, each with an `error` and a `diedAt`, in the same way as messages of any other state. */
  async list<T = unknown>(
    ...args: [...Name, state: 'dead', query?: MessageQuery]
  ): Promise<MessagePage<DeadLetter & SnapshotOf<Payloads, T>>>;
  /**
   * Lists the handled messages that a queue with the option `history` remembers, newest first, whether or not this process has the option.
   * @throws DelayQueueError also `UNSUPPORTED_BY_LAYOUT`
   */
  async list<T = unknown>(
    ...args: [...Name, state: 'handled', query?: MessageQuery]
  ): Promise<MessagePage<HandledOf<Payloads, T>>>;
  /**
   * Lists messages of one state, page by page: `delayed` ones by due time, `ready` ones in the order in which they will be claimed,
   * `active` ones by consumer, `dead` ones oldest first. A page takes one call, whose cost hardly depends on the length of the queue.
   *
   * A page holds about 1 MiB of messages at most, so it may be shorter than `limit`: go on until `cursor` is null. A message that stays
   * where it is appears exactly once, whatever happens to other messages between two pages. A message whose state or due time changes
   * during the walk may appear twice or not at all. With `partitions`, ready and active messages are listed partition by partition;
   * partitions that do not answer are left out and named in `missing`.
   * - `query`: `cursor` of the previous page, or `offset` (0 or more) to begin in the middle; `limit` (1–1000, default 100)
   * @returns the messages as `find` shows them. In a queue shared with another system, messages that only that system knows have the id
   *   `''`
   * @throws DelayQueueError `INVALID_ARGUMENT` for an unknown state, a malformed cursor, or a number out of range
   * @example
   * ```ts
   * let cursor: string | undefined;
   * do {
   *   const page = await producer.list('orders', 'delayed', { cursor });
   *   for (const message of page.messages) console.log(message.id, message.dueAt);
   *   cursor = page.cursor ?? undefined;
   * } while (cursor);
   * ```
   */
  async list<T = unknown>(
    ...args: [...Name, state: MessageState, query?: MessageQuery]
  ): Promise<MessagePage<SnapshotOf<Payloads, T>>>;
  async list(
    ...args: [...Name, state: MessageState | 'handled', query?: MessageQuery]
  ): Promise<MessagePage<MessageSnapshot | HandledMessage>> {
    const [queue, state, query] = this[NAMED]<[MessageState | 'handled', MessageQuery?]>(args);
    return state === 'handled' ? listHandled(queue, query) : listMessages(queue, state, query);
  }

  /**
   * Finds messages in one state by id, type, group, due time, rule, error, or text in the payload or headers. A call examines at most about
   * 4,000 messages or 4 MiB, from the `cursor` on, in the order of {@link list}, and returns when the page is full. So a page may be short
   * or empty: go on until `cursor` is null. Delayed messages are sorted by due time, so a search that is limited to a range of due times
   * examines only these; all others examine the whole state. Messages that move during the search are found as by {@link list}.
   * - `filter`: `state`, and what else must be true of a message
   * - `page`: `cursor` of the previous page of the same filter; `limit` (1–1000, default 100)
   * @throws DelayQueueError `INVALID_ARGUMENT` for a malformed filter or cursor. A cursor of another filter for the same state is accepted:
   *   the search goes on there
   * @example
   * ```ts
   * const filter = { state: 'delayed', text: 'ada@example.com' } as const;
   * let cursor: string | undefined;
   * do {
   *   const page = await producer.search('orders', filter, { cursor });
   *   for (const message of page.messages) console.log(message.id, message.dueAt);
   *   cursor = page.cursor ?? undefined;
   * } while (cursor);
   * ```
   */
  async search<T = unknown>(
    ...args: [...Name, filter: MessageFilter, page?: PageQuery]
  ): Promise<SearchPage<SnapshotOf<Payloads, T>>> {
    const [queue, filter, page] = this[NAMED]<[MessageFilter, PageQuery?]>(args);
    const show = (message: StoredMessage) => snapshotOf(queue, message) as SnapshotOf<Payloads, T>;
    return searchPage({ store: queue.store, show }, new CheckedFilter(filter), readPage(page));
  }

  /**
   * Gives access to all messages that match a filter, to count or change them in bounded steps. A step changes what has matched a moment
   * before: it does not check the filter again, only the state.
   * @throws DelayQueueError `INVALID_ARGUMENT` immediately if the queue name or the filter is malformed
   * @example
   * ```ts
   * const timedOut = producer.matching('orders', { state: 'dead', error: { name: 'TimeoutError' } });
   * const { matched } = await timedOut.count();
   * const { changed, movedOn } = await timedOut.redrive({ signal: AbortSignal.timeout(60_000) });
   * ```
   */
  matching(...args: [...Name, filter: MessageFilter]): MatchingMessages {
    const [queue, filter] = this[NAMED]<[MessageFilter]>(args);
    const { store, router } = queue;
    const deadLetters = new StoreDeadLetters(queue, this[PARTS].registrar);
    const show = (message: StoredMessage) => snapshotOf(queue, message);
    return new StoredMatches({ store, router, show, deadLetters }, new CheckedFilter(filter));
  }

  /**
   * Counts delayed messages by due time, in buckets of equal width. Takes one call, however long the queue, and one instant in each
   * partition.
   * - `query`: `from` and `to`, dates between 1970 and 9999; `buckets` (1–400)
   * @example
   * ```ts
   * const now = new Date();
   * const { before, counts } = await producer.histogram('orders', { from: now, to: new Date(+now + 3_600_000), buckets: 60 });
   * console.log(`overdue: ${before}, in the next minute: ${counts[0]}`);
   * ```
   */
  async histogram(
    ...args: [...Name, query: { readonly from: Date; readonly to: Date; readonly buckets: number }]
  ): Promise<DueHistogram> {
    const [{ store }, query] = this[NAMED]<[HistogramQuery]>(args);
    return countByDue(store, query);
  }

  /**
   * Counts a queue's messages in each state, as of one instant in each partition. Partitions that do not answer are named in `missing`.
   * @example
   * ```ts
   * const { delayed, ready, active, dead } = await producer.counts('orders');
   * ```
   */
  async counts(...args: [...Name]): Promise<QueueCounts> {
    const [{ store }] = this[NAMED](args);
    const { counts, missing } = await store.status();
    return missing ? { ...counts, missing } : counts;
  }

  /**
   * Counts the messages of each type in each state. It walks through the whole queue, 250 messages per call: about 0.4 s for 100,000 small
   * messages. Redis serves other clients between the calls. {@link counts} takes one call, however long the queue.
   *
   * The numbers are exact while no message moves. A message whose state or due time changes during the walk may be counted twice; one that
   * moves back, to a retry or an earlier due time, may be missed. All other messages are counted exactly once, except in partitions that do
   * not answer: these are left out, and the event `partitions-missing` reports them.
   * @returns the counts by type, with `''` for messages without a type, or for all messages if the layout has no types; types without
   *   messages are absent
   * @example
   * ```ts
   * const byType = await producer.countsByType('orders');
   * console.log(byType.get('cancel-unpaid')?.delayed ?? 0, Object.fromEntries(byType));
   * ```
   */
  async countsByType(
    ...args: [...Name]
  ): Promise<ReadonlyMap<unknown extends Payloads ? string : TypesOf<Payloads>, MessageCounts>> {
    const [queue] = this[NAMED](args);
    return countByType(queue);
  }

  /**
   * Returns when the next delayed message falls due, by Redis' clock; null if none is delayed. Partitions that do not answer are left
   * out, and the event `partitions-missing` reports them.
   */
  async nextDue(...args: [...Name]): Promise<Date | null> {
    const [{ store }] = this[NAMED](args);
    const { nextDue } = await store.status();
    return nextDue === null ? null : dateOf(nextDue);
  }

  /**
   * Returns what one read tells about a queue: its counts, next due time, whether it is paused, and what its layout can do.
   * @example
   * ```ts
   * const { ready, nextDue, isPaused } = await producer.status('orders');
   * ```
   */
  async status(...args: [...Name]): Promise<QueueStatus> {
    const [queue] = this[NAMED](args);
    return readStatus(queue);
  }

  /** Pauses a queue in all processes: running handlers finish, and nothing more is claimed until {@link resume}. */
  async pause(...args: [...Name]): Promise<void> {
    const [{ store }] = this[NAMED](args);
    await store.pause();
  }

  /** Resumes a queue after {@link pause}. The oldest ready messages come first. */
  async resume(...args: [...Name]): Promise<void> {
    const [{ store }] = this[NAMED](args);
    await store.resume();
  }

  /** Returns true if a queue is paused. Partitions that do not answer are left out, and the event `partitions-missing` reports them. */
  async isPaused(...args: [...Name]): Promise<boolean> {
    const [{ store }] = this[NAMED](args);
    return (await store.status()).paused;
  }

  /**
   * Removes all messages of a queue in every state, including dead letters, and returns their number. Running handlers carry on, but their
   * outcomes no longer count. A paused queue stays paused.
   */
  async clear(...args: [...Name]): Promise<number> {
    const [{ store }] = this[NAMED](args);
    return store.clear();
  }

  /**
   * Gives access to the dead letters of a queue.
   * @typeParam T - the type of their payloads, which is not checked at run time
   * @throws DelayQueueError `INVALID_ARGUMENT` immediately if the queue name is malformed
   * @example
   * ```ts
   * const redriven = await producer.deadLetters('orders').redriveAll();
   * ```
   */
  deadLetters<T = unknown>(...args: [...Name]): DeadLetters<DeadLetter & SnapshotOf<Payloads, T>> {
    const [queue] = this[NAMED](args);
    return new StoreDeadLetters(queue, this[PARTS].registrar);
  }

  /**
   * Gives access to the messages of a queue that repeat: to list, pause, resume and end them, or to run one now.
   * @typeParam T - the type of their payloads, which is not checked at run time
   * @throws DelayQueueError immediately: `INVALID_ARGUMENT` if the queue name is malformed, `UNSUPPORTED_BY_LAYOUT`
   * @example
   * ```ts
   * await producer.repeats('digests').pause('weekdays');
   * ```
   */
  repeats<T = unknown>(...args: [...Name]): RepeatingMessages<SnapshotOf<Payloads, T>> {
    const [queue] = this[NAMED](args);
    return this[PARTS].repeats.of(queue) as RepeatingMessages<SnapshotOf<Payloads, T>>;
  }

  /**
   * Lists the groups with the longest backlogs, and the messages that hold their permits. The queue needs the option `groups`. It examines at
   * most about 20,000 groups, 500 per call.
   * - `query`: `limit` (1–1000, default 100)
   * @throws DelayQueueError `INVALID_ARGUMENT` also if the queue lacks the option; `UNSUPPORTED_BY_LAYOUT`
   * @example
   * ```ts
   * const { groups } = await producer.groups('reminders', { limit: 10 });
   * for (const { group, waiting, holders } of groups) console.log(`${group}: ${waiting} wait for ${holders.join(', ')}`);
   * ```
   */
  async groups(...args: [...Name, query?: { readonly limit?: number | undefined }]): Promise<GroupList> {
    const [queue, query] = this[NAMED]<[{ readonly limit?: number | undefined }?]>(args);
    assertGrouped(queue, `groups('${queue.name}')`);
    return listGroups(queue.router.groups!, query);
  }

  /**
   * Gives access to the queue's limits that change while it runs: its global concurrency and its rate. They apply to all processes, instead of
   * those in their options, until they are reset.
   * @throws DelayQueueError immediately: `INVALID_ARGUMENT` if the name is malformed
   * @example
   * ```ts
   * await producer.limits('orders').set({ globalConcurrency: 5, rate: { max: 100, per: '1s' } });
   * ```
   */
  limits(...args: Name): QueueLimits {
    const [queue] = this[NAMED]<[]>(args);
    return new StoredLimits(queue, this[PARTS].stores.limits);
  }

  /**
   * Gives access to the messages of a group. The queue needs the option `groups`.
   * @typeParam T - the type of their payloads, which is not checked at run time
   * @throws DelayQueueError immediately: `INVALID_ARGUMENT` if a name is malformed or the queue lacks the option, `UNSUPPORTED_BY_LAYOUT`
   * @example
   * ```ts
   * const cancelled = await producer.group('reminders', `customer-${userId}`).cancelAll();
   * ```
   */
  group<T = unknown>(...args: [...Name, group: string]): MessageGroup<SnapshotOf<Payloads, T>> {
    const [queue, group] = this[NAMED](args);
    assertGroup(group);
    assertGrouped(queue, `group('${queue.name}', …)`);
    const { name, router, options } = queue;
    const register = () => this[PARTS].registrar.register(name);
    const show = (message: StoredMessage) => snapshotOf(queue, message) as SnapshotOf<Payloads, T>;
    const rules = options.groups!;
    const canExpire = options.layout.can.expiry;
    return new StoredGroup({ store: router.groups!, rules, canExpire, register, show }, group);
  }
}
