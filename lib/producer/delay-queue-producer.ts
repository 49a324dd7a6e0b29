import { Inject, Injectable, type InjectionToken, type Type } from '@nestjs/common';
import { listWorkers } from '../heartbeat/list-workers.js';
import type { WorkerReport } from '../heartbeat/worker-report.js';
import { type CheckedDuration, dueAt, type Duration, readDelay } from '../message/duration.js';
import { readInstanceName, UNNAMED } from '../message/instance-name.js';
import type { PageQuery } from '../message/page.js';
import type { RepeatProgress } from '../message/repeat-rule.js';
import type { RepeatOptions, RepeatTimes } from '../options/queue-options.js';
import { Instance } from '../runtime/instance.js';
import type { Queue } from '../runtime/queues.js';
import { type OfferOptions, type OfferResult, readOfferOptions } from './offer.js';
import { NAMED, PARTS, QueueMethods, QueueParts } from './queue-methods.js';
import { listQueues, type QueuePage } from './queue-views.js';
import { RelayTarget } from './relay-target.js';

/**
 * Offers messages to queues and manages them. Inject it anywhere; it works for any queue name, whether or not the process has handlers.
 * `@InjectDelayQueueProducer(name)` injects the producer of a named instance.
 *
 * Every method rejects with a `DelayQueueError`: `INVALID_ARGUMENT` for a malformed argument and, because all of them call Redis,
 * `LOGIN_REFUSED`, `NOT_CONNECTED`, `OUTCOME_UNKNOWN`, `STORE_REFUSED` or `CLOSED` (`docs/errors.md`).
 */
@Injectable()
export class DelayQueueProducer extends QueueMethods<[queue: string], unknown> {
  // Property injection keeps constructor parameters and their types out of the public API.
  /** @internal */
  @Inject() readonly [PARTS]!: QueueParts;
  /** @internal */
  @Inject() readonly relayTarget!: RelayTarget;
  @Inject() private readonly own!: Instance;

  /** @internal */
  [NAMED]<Rest extends readonly unknown[]>([name, ...rest]: readonly [string, ...Rest]): [Queue, ...Rest] {
    return [this[PARTS].queues.named(name), ...rest];
  }

  /** The instance's name; undefined if it has none. */
  get instance(): string | undefined {
    return this.own.name || undefined;
  }

  /**
   * Offers a message that falls due after a delay.
   * @param queue - 1–128 of the characters `A–Z a–z 0–9 _ . : -`
   * @param payload - JSON values, or a `Buffer`, which is stored as raw bytes; at most `maxPayloadBytes` when encoded. Values that JSON
   *   would silently change (a promise, a Map, `NaN`…) are refused
   * @param delay - 0 ms – 100 years, by Redis' clock
   * @throws DelayQueueError also `INVALID_PAYLOAD`, `PAYLOAD_TOO_LARGE`, `DUPLICATE_MESSAGE`, `QUEUE_FULL`. After `OUTCOME_UNKNOWN` it is
   *   safe to offer the message again with the same `id`.
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
    // Not async, because an async method would cost each offer an extra promise.
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
   * Offers a message that falls due at a given time, or now if that time has passed. Otherwise like {@link offer}.
   * @param date - between 1970 and 9999, by Redis' clock
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
   * Offers a single message that recurs at each time of a schedule, however many processes offer it: of a `cron` expression, or `every` so
   * often. Settling an occurrence and offering the next is one step. An occurrence that has used up its attempts leaves its own dead letter, and the next one still comes.
   *
   * Call it as often as you like, for instance at each startup: an unchanged rule and payload have no effect, and changed ones replace them. An
   * occurrence that is already due is still handled. {@link cancel} ends the repetition, even while an occurrence is being handled;
   * {@link repeats} lists, pauses and resumes repetitions. Once a repetition is over, by its `limit` or `endsAt`, the id is free.
   * @param id - at most 229 bytes; `list` and `find` show the rule as `repeat` and the next time as `dueAt`
   * @param payload - the payload of each occurrence, as in {@link offer}
   * @returns the next due time, and whether the message is new
   * @throws DelayQueueError as {@link offer}, and `INVALID_OPTION` if the rule has a `cron` and the module has no `calendar`,
   *   `INVALID_ARGUMENT` also if the rule has no time from now on, or `UNSUPPORTED_BY_LAYOUT`
   * @example
   * ```ts
   * await producer.repeat('digests', 'weekdays', { cron: '0 9 * * 1-5', timeZone: 'Europe/Berlin' }, {});
   * await producer.repeat('trials', `trial:${userId}`, { every: '1d', startsAt: new Date('2027-01-01'), limit: 14 }, { userId });
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
   * Returns the next times of a rule, those with `cron` by the module's `calendar`. Calls no store.
   * @param rule - what decides the times, as in {@link repeat}, or the `repeat` of a message that `find` has returned
   * @param query - `after`: where to begin, default: now by this process's clock; `count`: how many times, 1–100, default 5
   * @returns the times in order; fewer if the rule has no more
   * @throws DelayQueueError `INVALID_ARGUMENT`, or `INVALID_OPTION` if the rule has a `cron` and the module has no `calendar`
   * @example
   * ```ts
   * const [next] = producer.occurrences({ cron: '0 9 * * 1-5', timeZone: 'Europe/Berlin' });
   * ```
   */
  occurrences(
    rule: RepeatTimes | RepeatProgress,
    query?: { readonly after?: Date | undefined; readonly count?: number | undefined },
  ): Date[] {
    return this[PARTS].repeats.occurrences(rule, query);
  }

  /**
   * Lists queues, sorted by name: every queue to which messages have been offered, or that a process has ever handled, even if it is empty
   * now. A family's queue is listed only until a few minutes after its last message or dead letter is gone, and for as long as it is
   * paused. Queues to which only other libraries offer are not listed.
   * @throws DelayQueueError `INVALID_ARGUMENT` for a malformed cursor or a limit out of range
   * @example
   * ```ts
   * const { queues, cursor } = await producer.queues();
   * ```
   */
  async queues(query?: PageQuery): Promise<QueuePage> {
    return listQueues(this.own.stores.directory, query);
  }

  /**
   * Lists the processes that handle queues of this instance, sorted by id: those whose heartbeat has been seen within the last 30 seconds.
   * A process that stops cleanly disappears at once. Processes with `heartbeat: false`, or with a version before this one, are not listed.
   * @returns one page, and the `cursor` to get the next one; null on the last page
   * @throws DelayQueueError `INVALID_ARGUMENT` for a malformed cursor or a limit out of range
   * @example
   * ```ts
   * const { workers, cursor } = await producer.workers();
   * ```
   */
  async workers(
    query?: PageQuery,
  ): Promise<{ readonly workers: readonly WorkerReport[]; readonly cursor: string | null }> {
    return listWorkers(this.own.stores.workerRegistry, query);
  }
}

// Fixed names, because a bundler may shorten the names of the classes.
const NAMES = new Map<Type, string>([
  [DelayQueueProducer, 'DelayQueueProducer'],
  [QueueParts, 'DelayQueueParts'],
]);

/** Returns the injection token for a service of an instance, such as its producer. For the unnamed instance, that is the class itself. */
export function tokenOf<Part>(part: Type<Part>, instance: string): InjectionToken<Part> {
  return instance === UNNAMED ? part : `${NAMES.get(part)}:${instance}`;
}

/**
 * Returns the token of a named instance's producer, for `inject`, `get` and `overrideProvider`. Default: `DelayQueueProducer`.
 * @param instance - the `name` given to `DelayQueueModule.forRoot()`
 * @throws DelayQueueError `INVALID_OPTION` immediately if the name is malformed
 * @example
 * ```ts
 * const reports = {
 *   provide: 'reports',
 *   inject: [getDelayQueueProducerToken('billing')],
 *   useFactory: (billing: DelayQueueProducer) => ({ plan: () => billing.offer('reports', {}, '1h') }),
 * };
 * ```
 */
export function getDelayQueueProducerToken(instance?: string): InjectionToken<DelayQueueProducer> {
  return tokenOf(DelayQueueProducer, readInstanceName(instance, 'instance'));
}

/**
 * Injects the producer of a named instance.
 * @param instance - the `name` given to `DelayQueueModule.forRoot()`
 * @throws DelayQueueError `INVALID_OPTION` immediately if the name is malformed
 * @example
 * ```ts
 * @Injectable()
 * class Invoices {
 *   constructor(@InjectDelayQueueProducer('billing') private readonly billing: DelayQueueProducer) {}
 * }
 * ```
 */
export function InjectDelayQueueProducer(instance?: string): PropertyDecorator & ParameterDecorator {
  return Inject(getDelayQueueProducerToken(instance));
}
