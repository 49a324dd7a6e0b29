import { Inject, Injectable } from '@nestjs/common';
import { type MessageGroup, StoredGroup } from '../groups/message-group.js';
import { INSTANCE } from '../handler/instance-names.js';
import { type CheckedDue, dateOf, dueAt } from '../message/due-time.js';
import { type CheckedDuration, type Duration, readDelay } from '../message/duration.js';
import { assertGroup, assertMessageId } from '../message/message-id.js';
import type { DeadLetter, MessageCounts, MessageSnapshot, MessageState } from '../message/message.js';
import type { MessagePage, MessageQuery, PageQuery } from '../message/page.js';
import type { RepeatOptions } from '../options/repeat-options.js';
import type { Stores } from '../runtime/create-stores.js';
import { STORES } from '../runtime/delay-queue-tokens.js';
import { QueueRegistrar } from '../runtime/queue-registrar.js';
import { Queues } from '../runtime/queues.js';
import type { StoredMessage } from '../store/admin-store.js';
import { Changes, type MessageChange, readChange } from './changes.js';
import { type DeadLetters, StoreDeadLetters } from './dead-letters.js';
import {
  type CheckedRequests,
  type OfferRequest,
  type OfferOptions,
  type OfferResult,
  readOfferOptions,
} from './offer.js';
import { Offers } from './offers.js';
import { countByType, listMessages, listQueues, type QueueCounts, type QueuePage, snapshotOf } from './queue-views.js';
import { RelayTarget } from './relay-target.js';
import { Repeats } from './repeats.js';
import { assertGrouped } from './unsupported.js';

/**
 * Offers messages to queues and manages them there. Inject it anywhere; it works for any queue name, in a process with or
 * without handlers. That of a named instance is injected by `@InjectDelayQueueProducer(name)`.
 *
 * Every method rejects with a `DelayQueueError`: `INVALID_ARGUMENT` for a malformed argument, and, because all of them call
 * Redis, `LOGIN_REFUSED`, `NOT_CONNECTED`, `OUTCOME_UNKNOWN`, `STORE_REFUSED` or `CLOSED` (`docs/errors.md`).
 */
@Injectable()
export class DelayQueueProducer {
  // Injected into properties: constructor parameters, and every type they refer to, would be part of the public API.
  /** @internal */
  @Inject() readonly known!: Queues;
  /** @internal */
  @Inject() readonly relayTarget!: RelayTarget;
  @Inject() private readonly offering!: Offers;
  @Inject() private readonly changes!: Changes;
  @Inject() private readonly repeats!: Repeats;
  @Inject() private readonly registrar!: QueueRegistrar;
  @Inject(STORES) private readonly stores!: Stores;
  @Inject(INSTANCE) private readonly name!: string;

  /** The name of the instance it belongs to; undefined: the one without a name. */
  get instance(): string | undefined {
    return this.name || undefined;
  }

  /**
   * Offers a message that falls due after a delay.
   *
   * @param queue - 1–128 of the characters `A–Z a–z 0–9 _ . : -`
   * @param payload - JSON values, or a `Buffer`, which is stored as raw bytes; at most `maxPayloadBytes` when encoded. What
   *   JSON would silently change (a promise, a Map, `NaN`…) is refused
   * @param delay - 0 ms – 100 years, by the clock of Redis
   * @param options - `id`, `headers`, `onDuplicate`, `group`, `maxWait`, …
   * @returns the message's id and due time, and whether it is new
   * @throws DelayQueueError also `INVALID_PAYLOAD`, `PAYLOAD_TOO_LARGE`, `DUPLICATE_MESSAGE`, `QUEUE_FULL`. After
   *   `OUTCOME_UNKNOWN` it is safe to offer again with the same `id`.
   *
   * @example
   * ```ts
   * await producer.offer('orders', { orderId }, '30m', { id: `unpaid:${orderId}` });
   * ```
   */
  offer<T, const Delay extends Duration = Duration>(
    queue: string,
    payload: T,
    delay: CheckedDuration<Delay>,
    options?: OfferOptions,
  ): Promise<OfferResult> {
    // Not async like the others: that costs every offer another promise.
    try {
      const due = { after: readDelay(delay) };
      return this.offering.offer(queue, { payload, due, options: readOfferOptions(options) });
    } catch (error) {
      const failure = error as Error;
      return Promise.reject(failure);
    }
  }

  /**
   * Offers a message that falls due at a given instant; at once if that has passed.
   *
   * @param queue - 1–128 of the characters `A–Z a–z 0–9 _ . : -`
   * @param payload - as in {@link offer}
   * @param date - between 1970 and 9999, by the clock of Redis
   * @param options - `id`, `headers`, `onDuplicate`, `group`, `maxWait`, …
   * @returns the message's id and due time, and whether it is new
   * @throws DelayQueueError as {@link offer}
   *
   * @example
   * ```ts
   * await producer.offerAt('reminders', { userId }, appointment.startsAt);
   * ```
   */
  async offerAt<T>(queue: string, payload: T, date: Date, options?: OfferOptions): Promise<OfferResult> {
    return this.offering.offer(queue, { payload, due: dueAt(date), options: readOfferOptions(options) });
  }

  /**
   * Offers many messages in few calls. All are checked before the first is written; then each is accepted or refused
   * (`DUPLICATE_MESSAGE`, `QUEUE_FULL`) on its own.
   *
   * @param queue - 1–128 of the characters `A–Z a–z 0–9 _ . : -`
   * @param messages - an array; each message has a `payload`, either a `delay` or `at` (a `Date`), and optionally what {@link offer} takes
   *   as options
   * @returns the results in the order of the messages
   * @throws DelayQueueError as {@link offer}; if some were refused, `cause.errors` has an error for each. With `partitions`, some may
   *   be written while others fail: the error names those that are not known to be, and `cause.errors` has an error for each
   *
   * @example
   * ```ts
   * await producer.offerMany('orders', orders.map(({ id }) => ({ payload: { orderId: id }, delay: '30m' })));
   * await producer.offerMany('reminders', appointments.map(({ userId, startsAt }) => ({ payload: { userId }, at: startsAt })));
   * ```
   */
  async offerMany<T, const Delays extends readonly Duration[] = readonly Duration[]>(
    queue: string,
    messages: CheckedRequests<OfferRequest<T>, Delays>,
  ): Promise<OfferResult[]> {
    return this.offering.offerMany(queue, messages);
  }

  /**
   * Has a message repeat by a calendar: one message that comes again at each time, on any number of processes. Handling an occurrence and
   * offering the next one is one step. An occurrence whose attempts are spent leaves a dead letter of its own, and the next one comes.
   *
   * Call it as often as you like, such as at each start: the same rule and payload change nothing. A new one replaces that of before; an
   * occurrence that is due by then is still handled. {@link cancel} ends it, also while an occurrence is handled.
   *
   * @param queue - the queue that handles it
   * @param id - of the message, at most 229 bytes; `list` and `find` show the rule as `repeat`, the next time as `dueAt`
   * @param options - `cron`, `timeZone`, `missed`, `type`, `headers`, `expiresAfter`, `onExpired`
   * @param payload - what each occurrence has, as in {@link offer}
   * @returns when it falls due next, and whether it is new
   * @throws DelayQueueError as {@link offer}, and `INVALID_OPTION` if the module has no `calendar`, `UNSUPPORTED_BY_LAYOUT`
   *
   * @example
   * ```ts
   * await producer.repeat('digests', 'weekdays', { cron: '0 9 * * 1-5', timeZone: 'Europe/Berlin' }, {});
   * ```
   */
  async repeat<T>(
    queue: string,
    id: string,
    options: RepeatOptions & Pick<OfferOptions, 'type'>,
    payload: T,
  ): Promise<OfferResult> {
    return this.repeats.repeat(queue, { id, options, payload });
  }

  /**
   * Removes a message that is not due yet. Of `cancel`, `reschedule` and the message falling due, exactly one wins. A message that
   * follows an active one (`onDuplicate: 'follow'`) is removed as well. One that repeats ends: if an occurrence is due already, it is
   * still handled, as the last one.
   *
   * @param queue - the queue that the message was offered to
   * @param id - given to `offer`, or returned by it
   * @returns whether one was removed or ended; false if there is none, or it is already ready, active or dead, and neither repeats nor
   *   is followed
   *
   * @example
   * ```ts
   * const paidInTime = await producer.cancel('orders', `unpaid:${orderId}`);
   * ```
   */
  async cancel(queue: string, id: string): Promise<boolean> {
    const known = this.known.named(queue);
    assertMessageId(id);
    return known.router.lookUp(id, { ask: (store) => store.cancel(id), isFound: Boolean });
  }

  /**
   * Changes when a message that is not due yet falls due, and what else is given, in one step. Of `cancel`, `reschedule` and the
   * message falling due, exactly one wins: the handler runs once, with the old payload or with the new one, and the result says
   * which.
   *
   * @param queue - the queue that the message was offered to
   * @param id - given to `offer`, or returned by it
   * @param due - a delay from now, 0 ms – 100 years, or a `Date` between 1970 and 9999; by the clock of Redis
   * @param change - `payload`, `headers` (in place of all present ones), `type`; what is left out stays. Not available in every
   *   layout
   * @returns whether it was rescheduled; false if there is none, or it is already ready, active or dead
   * @throws DelayQueueError also `INVALID_PAYLOAD` and `PAYLOAD_TOO_LARGE`, as {@link offer}, `INVALID_PAYLOAD` if the stored message
   *   cannot be read, `UNSUPPORTED_BY_LAYOUT`, and `OFFER_TIMEOUT` if others keep changing the same message
   *
   * @example
   * ```ts
   * await producer.reschedule('orders', `unpaid:${orderId}`, '15m');
   * await producer.reschedule('reminders', appointment.id, appointment.startsAt);
   * const paidInTime = await producer.reschedule('orders', `unpaid:${orderId}`, 0, { payload: { orderId, paid: true } });
   * ```
   */
  async reschedule<const Due extends Duration | Date = Duration | Date>(
    queue: string,
    id: string,
    due: CheckedDue<Due>,
    change?: MessageChange,
  ): Promise<boolean> {
    return this.changes.reschedule(queue, { id, due, change: readChange(change) });
  }

  /**
   * Stops a message that is being handled. The `signal` of its handler aborts at once, in whatever process that runs, and its outcome no
   * longer counts. The message is gone. Exactly one of `abort` and the end of the handler wins.
   *
   * @param queue - the queue that the message was offered to
   * @param id - given to `offer`, or returned by it
   * @returns whether it was stopped; false if it is not active: {@link cancel} removes one that is delayed
   *
   * @example
   * ```ts
   * const isGone = await producer.abort('exports', `export:${orderId}`);
   * ```
   */
  async abort(queue: string, id: string): Promise<boolean> {
    const known = this.known.named(queue);
    assertMessageId(id);
    return known.router.lookUp(id, { ask: (store) => store.abort(id), isFound: Boolean });
  }

  /**
   * Finds a message in any state.
   *
   * @param queue - the queue that the message was offered to
   * @param id - given to `offer`, or returned by it
   * @returns the message as it is now, a dead letter with its error; null if there is none with this id
   *
   * @example
   * ```ts
   * const message = await producer.find('orders', `unpaid:${orderId}`);
   * console.log(message?.state, message?.dueAt);
   * ```
   */
  async find<T = unknown>(queue: string, id: string): Promise<MessageSnapshot<T> | null> {
    const known = this.known.named(queue);
    assertMessageId(id);
    const found = await known.router.lookUp(id, { ask: (store) => store.find(id), isFound: Boolean });
    return found && snapshotOf<T>(known, found);
  }

  /** Lists dead letters, which all have an `error` and a `diedAt`. Otherwise as for any other state. */
  async list<T = unknown>(queue: string, state: 'dead', query?: MessageQuery): Promise<MessagePage<DeadLetter<T>>>;
  /**
   * Lists messages of one state, page by page: `delayed` ones by due time, `ready` ones in the order in which they are claimed,
   * `active` ones consumer by consumer, and `dead` ones oldest first. A page is one call, whose cost hardly depends on the length of
   * the queue.
   *
   * A page has about 1 MiB of messages at most, so it may be shorter than `limit`: go on until its `cursor` is null. A message that
   * stays where it is is listed exactly once, whatever happens to others between two pages. One that changes its state or its
   * due time meanwhile may be listed twice or not at all. With `partitions`, ready and active ones come partition by partition.
   * Messages in partitions that do not answer are not listed; the page names these partitions as `missing`.
   *
   * @param queue - the queue that the messages were offered to
   * @param state - `'delayed'`, `'ready'`, `'active'` or `'dead'`
   * @param query - `cursor` of the page before, or `offset` (0 or more) to begin in the middle; `limit` (1–1000, default 100)
   * @returns the messages as `find` shows them. Of a queue that is shared with another system, what only that one
   *   knows has no id: it is `''`
   * @throws DelayQueueError `INVALID_ARGUMENT` for an unknown state, a malformed cursor, or a number out of range
   *
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
    queue: string,
    state: MessageState,
    query?: MessageQuery,
  ): Promise<MessagePage<MessageSnapshot<T>>>;
  async list(queue: string, state: MessageState, query?: MessageQuery): Promise<MessagePage> {
    return listMessages(this.known.named(queue), state, query);
  }

  /**
   * Counts the messages of a queue in each state, at one instant; with `partitions`, at one for each. While some of these do not
   * answer, it counts what is in the others, and `missing` names them.
   *
   * @example
   * ```ts
   * const { delayed, ready, active, dead } = await producer.counts('orders');
   * ```
   */
  async counts(queue: string): Promise<QueueCounts> {
    const { counts, missing } = await this.known.named(queue).store.status();
    return missing ? { ...counts, missing } : counts;
  }

  /**
   * Counts the messages of each type in each state. It walks through the whole queue, 250 messages a call: about 0.4 s for
   * 100,000 small messages. Other clients are served between the calls; {@link counts} costs one call, however long the queue.
   *
   * The numbers are exact while no message moves. A message that changes its state or its due time during the walk may be
   * counted twice; one that moves back, to a retry or an earlier due time, may be missed. All others are counted exactly once,
   * except in partitions that do not answer: these are left out, and the event `partitions-missing` tells of it.
   *
   * @returns the counts by type, `''` for messages without one; a type without a message is absent. Where the layout has no
   *   types, all messages count under `''`
   *
   * @example
   * ```ts
   * const byType = await producer.countsByType('orders');
   * console.log(byType.get('cancel-unpaid')?.delayed ?? 0, Object.fromEntries(byType));
   * ```
   */
  async countsByType(queue: string): Promise<ReadonlyMap<string, MessageCounts>> {
    return countByType(this.known.named(queue));
  }

  /**
   * Tells when the next delayed message of a queue falls due, by the clock of Redis; null if none is delayed. Partitions that do not
   * answer are left out, and the event `partitions-missing` tells of it.
   */
  async nextDue(queue: string): Promise<Date | null> {
    const { nextDue } = await this.known.named(queue).store.status();
    return nextDue === null ? null : dateOf(nextDue);
  }

  /** Pauses the handling of a queue in all processes: running handlers finish, and nothing is claimed until {@link resume}. */
  async pause(queue: string): Promise<void> {
    await this.known.named(queue).store.pause();
  }

  /** Resumes the handling of a queue after {@link pause}; the oldest ready messages come first. */
  async resume(queue: string): Promise<void> {
    await this.known.named(queue).store.resume();
  }

  /**
   * Tells whether a queue is paused. Partitions that do not answer are left out, and the event `partitions-missing` tells of it.
   */
  async isPaused(queue: string): Promise<boolean> {
    return (await this.known.named(queue).store.status()).paused;
  }

  /**
   * Removes every message of a queue in every state, including dead letters. Running handlers go on, but their outcomes no
   * longer count. A paused queue stays paused.
   *
   * @returns how many messages were removed
   */
  async clear(queue: string): Promise<number> {
    return this.known.named(queue).store.clear();
  }

  /**
   * Gives access to the dead letters of a queue.
   *
   * @typeParam T - the type of their payloads, which is not checked at run time
   * @throws DelayQueueError `INVALID_ARGUMENT` immediately, for a malformed queue name
   *
   * @example
   * ```ts
   * const redriven = await producer.deadLetters('orders').redriveAll();
   * ```
   */
  deadLetters<T = unknown>(queue: string): DeadLetters<DeadLetter<T>> {
    return new StoreDeadLetters(this.known.named(queue), this.registrar);
  }

  /**
   * Gives access to the messages that were offered with the same `group`. The option `groups` of the queue must be set.
   *
   * @typeParam T - the type of their payloads, which is not checked at run time
   * @throws DelayQueueError `INVALID_ARGUMENT` or `UNSUPPORTED_BY_LAYOUT` immediately: for a malformed name, or a queue without groups
   *
   * @example
   * ```ts
   * const cancelled = await producer.group('reminders', `customer-${userId}`).cancelAll();
   * ```
   */
  group<T = unknown>(queue: string, group: string): MessageGroup<MessageSnapshot<T>> {
    const known = this.known.named(queue);
    assertGroup(group);
    assertGrouped(known, `group('${queue}', …)`);
    const { router, options } = known;
    const register = () => this.registrar.register(queue);
    const show = (message: StoredMessage) => snapshotOf<T>(known, message);
    return new StoredGroup({ router, canExpire: options.layout.can.expiry, register, show }, group);
  }

  /**
   * Lists the queues that messages were offered to, or that a process has ever handled, by name. It says nothing of what is in them
   * now; but a queue of a family is listed no longer a few minutes after its last message and dead letter, unless it is paused. Queues
   * that only other libraries offer to are not listed.
   *
   * @param query - `cursor` and `limit` (1–1000, default 100)
   * @throws DelayQueueError `INVALID_ARGUMENT` for a malformed cursor or a limit out of range
   *
   * @example
   * ```ts
   * let cursor: string | undefined;
   * do {
   *   const page = await producer.queues({ cursor });
   *   for (const queue of page.queues) console.log(queue, await producer.counts(queue));
   *   cursor = page.cursor ?? undefined;
   * } while (cursor);
   * ```
   */
  async queues(query?: PageQuery): Promise<QueuePage> {
    return listQueues(this.stores.directory, query);
  }
}
