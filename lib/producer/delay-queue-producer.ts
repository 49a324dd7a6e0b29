import { Inject, Injectable } from '@nestjs/common';
import { INSTANCE } from '../handler/instance-names.js';
import { dueAt } from '../message/due-time.js';
import { type CheckedDuration, type Duration, readDelay } from '../message/duration.js';
import type { PageQuery } from '../message/page.js';
import type { RepeatOptions } from '../options/repeat-options.js';
import type { Stores } from '../runtime/create-stores.js';
import { STORES } from '../runtime/delay-queue-tokens.js';
import type { Queue } from '../runtime/queues.js';
import { type OfferOptions, type OfferResult, readOfferOptions } from './offer.js';
import { NAMED, QueueMethods } from './queue-methods.js';
import { PARTS, QueueParts } from './queue-parts.js';
import { listQueues, type QueuePage } from './queue-views.js';
import { RelayTarget } from './relay-target.js';

/**
 * Offers messages to queues and manages them there. Inject it anywhere; it works for any queue name, in a process with or
 * without handlers. That of a named instance is injected by `@InjectDelayQueueProducer(name)`.
 *
 * Every method rejects with a `DelayQueueError`: `INVALID_ARGUMENT` for a malformed argument, and, because all of them call
 * Redis, `LOGIN_REFUSED`, `NOT_CONNECTED`, `OUTCOME_UNKNOWN`, `STORE_REFUSED` or `CLOSED` (`docs/errors.md`).
 */
@Injectable()
export class DelayQueueProducer extends QueueMethods<[queue: string], unknown> {
  // Injected into properties: constructor parameters, and every type they refer to, would be part of the public API.
  /** @internal */
  @Inject() readonly [PARTS]!: QueueParts;
  /** @internal */
  @Inject() readonly relayTarget!: RelayTarget;
  @Inject(STORES) private readonly stores!: Stores;
  @Inject(INSTANCE) private readonly name!: string;

  /** @internal */
  [NAMED]<Rest extends readonly unknown[]>([name, ...rest]: readonly [string, ...Rest]): [Queue, ...Rest] {
    return [this[PARTS].queues.named(name), ...rest];
  }

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
      const { offers, queues } = this[PARTS];
      const due = { after: readDelay(delay) };
      return offers.offer(queues.named(queue), { payload, due, options: readOfferOptions(options) });
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
    const { offers, queues } = this[PARTS];
    return offers.offer(queues.named(queue), { payload, due: dueAt(date), options: readOfferOptions(options) });
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
    const { repeats, queues } = this[PARTS];
    return repeats.repeat(queues.named(queue), { id, options, payload });
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
