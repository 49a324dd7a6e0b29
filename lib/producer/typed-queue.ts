import type { PayloadInput, PayloadSpec } from '../handler/definition/payload-spec.js';
import {
  type DefinedBy,
  defineQueue,
  type QueueDefinition,
  type SpecOf,
  type TypesOf,
  typesOf,
} from '../handler/definition/queue-definition.js';
import type { CheckedDue } from '../message/due-time.js';
import type { CheckedDuration, Duration } from '../message/duration.js';
import type { DeadLetter, MessageCounts, MessageHeaders, MessageSnapshot, MessageState } from '../message/message.js';
import type { RepeatOptions } from '../options/repeat-options.js';
import { UNNAMED } from '../message/instance-name.js';
import type { TypedQueueOptions } from '../options/queue-options.js';
import type { DeadLetters } from './dead-letters.js';
import type { CheckedRequests, OfferDue, OfferResult, TypedOfferOptions } from './offer.js';
import type { MessageGroup } from '../groups/message-group.js';
import type { MessagePage, MessageQuery } from '../message/page.js';
import type { QueueCounts } from './queue-views.js';
import { injectInstance, OneKindHandle, type QueueHandle, TypesHandle } from './queue-handle.js';

/** A message of a typed queue looked at from outside, by its type. */
export type SnapshotOf<Payloads> = {
  [Type in TypesOf<Payloads>]: MessageSnapshot<PayloadInput<SpecOf<Payloads, Type>>, Type>;
}[TypesOf<Payloads>];

/** One message of a typed queue's `offerMany`. */
export type TypedOfferRequest<Payloads> = {
  [Type in TypesOf<Payloads>]: TypedOfferOptions &
    OfferDue & {
      /** What its schema takes. */
      readonly payload: PayloadInput<SpecOf<Payloads, Type>>;
    } & ('' extends Type
      ? {
          /** There is none to name. */
          readonly type?: undefined;
        }
      : {
          /** One of the queue's. */
          readonly type: Type;
        });
}[TypesOf<Payloads>];

/** What `reschedule` of a typed queue changes besides the due time: a payload, which names its type if there are several, or headers. */
export type TypedChange<Payloads> =
  | {
      [Type in TypesOf<Payloads>]: {
        /** What its schema takes, in place of the present payload. */
        readonly payload: PayloadInput<SpecOf<Payloads, Type>>;
        /** In place of all present headers. */
        readonly headers?: MessageHeaders | undefined;
      } & ('' extends Type
        ? {
            /** There is none to name. */
            readonly type?: undefined;
          }
        : {
            /** One of the queue's, in place of the present one. */
            readonly type: Type;
          });
    }[TypesOf<Payloads>]
  | {
      /** In place of all present headers. */
      readonly headers?: MessageHeaders | undefined;
      /** Goes with a payload. */
      readonly type?: undefined;
      /** The present one stays. */
      readonly payload?: undefined;
    };

/**
 * What a typed queue has, whatever its messages are: the methods of {@link DelayQueueProducer} without the queue's name.
 *
 * @typeParam Payloads - what `DelayQueue()` was given
 */
export interface TypedQueue<Payloads> {
  /** The queue's name. */
  readonly queue: string;
  /** As `DelayQueueProducer.offerMany`; all payloads are checked before the first is written. */
  offerMany<const Delays extends readonly Duration[] = readonly Duration[]>(
    messages: CheckedRequests<TypedOfferRequest<Payloads>, Delays>,
  ): Promise<OfferResult[]>;
  /** As `DelayQueueProducer.cancel`. */
  cancel(id: string): Promise<boolean>;
  /** As `DelayQueueProducer.reschedule`, with a new payload checked. */
  reschedule<const Due extends Duration | Date = Duration | Date>(
    id: string,
    due: CheckedDue<Due>,
    change?: TypedChange<Payloads>,
  ): Promise<boolean>;
  /** As `DelayQueueProducer.abort`. */
  abort(id: string): Promise<boolean>;
  /** As `DelayQueueProducer.find`. The payload is what was offered. */
  find(id: string): Promise<SnapshotOf<Payloads> | null>;
  /** As `DelayQueueProducer.list`, of dead letters. The payloads are what was offered. */
  list(state: 'dead', query?: MessageQuery): Promise<MessagePage<DeadLetter & SnapshotOf<Payloads>>>;
  /** As `DelayQueueProducer.list`. The payloads are what was offered. */
  list(state: MessageState, query?: MessageQuery): Promise<MessagePage<SnapshotOf<Payloads>>>;
  /** As `DelayQueueProducer.counts`. */
  counts(): Promise<QueueCounts>;
  /** As `DelayQueueProducer.countsByType`. If messages of other types are stored, they are counted, too. */
  countsByType(): Promise<ReadonlyMap<TypesOf<Payloads>, MessageCounts>>;
  /** As `DelayQueueProducer.nextDue`. */
  nextDue(): Promise<Date | null>;
  /** As `DelayQueueProducer.pause`. */
  pause(): Promise<void>;
  /** As `DelayQueueProducer.resume`. */
  resume(): Promise<void>;
  /** As `DelayQueueProducer.isPaused`. */
  isPaused(): Promise<boolean>;
  /** As `DelayQueueProducer.clear`. */
  clear(): Promise<number>;
  /** As `DelayQueueProducer.group`. The payloads are what was offered. */
  group(group: string): MessageGroup<SnapshotOf<Payloads>>;
  /** As `DelayQueueProducer.deadLetters`. The payloads are what was offered. */
  deadLetters(): DeadLetters<DeadLetter & SnapshotOf<Payloads>>;
}

/** The handle of a typed queue with one kind of messages, which have no type. */
export interface QueueOfOneKind<Payload> extends TypedQueue<Payload> {
  /**
   * As `DelayQueueProducer.offer`. A schema checks the payload as JSON will bring it to the handler; what is stored is the
   * input, so that a schema that transforms is applied once, before the handler.
   *
   * @throws DelayQueueError also `INVALID_PAYLOAD`, if the schema refuses it; the error names the paths, no values
   */
  offer<const Delay extends Duration = Duration>(
    payload: PayloadInput<Payload>,
    delay: CheckedDuration<Delay>,
    options?: TypedOfferOptions,
  ): Promise<OfferResult>;
  /** As `DelayQueueProducer.offerAt`, with the payload checked. */
  offerAt(payload: PayloadInput<Payload>, date: Date, options?: TypedOfferOptions): Promise<OfferResult>;
  /** As `DelayQueueProducer.repeat`, with the payload checked. */
  repeat(id: string, options: RepeatOptions, payload: PayloadInput<Payload>): Promise<OfferResult>;
}

/** The handle of a typed queue with several types of messages. */
export interface QueueOfTypes<Payloads> extends TypedQueue<Payloads> {
  /**
   * As `DelayQueueProducer.offer`, of a message of a type. A schema checks the payload as JSON will bring it to the handler; what
   * is stored is the input, so that a schema that transforms is applied once, before the handler.
   *
   * @throws DelayQueueError also `INVALID_PAYLOAD`, if the schema refuses it; the error names the paths, no values
   */
  offer<Type extends TypesOf<Payloads>, const Delay extends Duration = Duration>(
    type: Type,
    payload: PayloadInput<SpecOf<Payloads, Type>>,
    delay: CheckedDuration<Delay>,
    options?: TypedOfferOptions,
  ): Promise<OfferResult>;
  /** As `DelayQueueProducer.offerAt`, of a message of a type, with the payload checked. */
  offerAt<Type extends TypesOf<Payloads>>(
    type: Type,
    payload: PayloadInput<SpecOf<Payloads, Type>>,
    date: Date,
    options?: TypedOfferOptions,
  ): Promise<OfferResult>;
  /** As `DelayQueueProducer.repeat`, of a message of a type, with the payload checked. */
  repeat<Type extends TypesOf<Payloads>>(
    type: Type,
    id: string,
    options: RepeatOptions,
    payload: PayloadInput<SpecOf<Payloads, Type>>,
  ): Promise<OfferResult>;
}

/** What `DelayQueue()` makes: extend it to give the queue its class. */
export interface QueueClass<Payloads, Handle> extends DefinedBy<Payloads> {
  /** Nest calls it. */
  new (): Handle;
}

/**
 * Makes the class of a queue whose messages are all of one kind. The class that extends it is the queue's definition, what Nest
 * injects, and the typed handle at once.
 *
 * @param queue - 1–128 of the characters `A–Z a–z 0–9 _ . : -`
 * @param payload - a Standard Schema (zod, valibot, arktype…), a DTO class, or `payload<T>()`
 * @param options - override the module's `defaults`; what `queues` says of the queue overrides them. `instance` names the instance that
 *   the queue belongs to
 * @throws DelayQueueError `INVALID_OPTION`
 *
 * @example
 * ```ts
 * class Emails extends DelayQueue('emails', payload<{ to: string }>()) {}
 *
 * @Injectable()
 * class Welcome {
 *   constructor(private readonly emails: Emails) {}
 *   greet(to: string) {
 *     return this.emails.offer({ to }, '1h');
 *   }
 *   @DelayedHandler(Emails)
 *   async send({ to }: PayloadOf<typeof Emails>) {}
 * }
 *
 * @Module({ providers: [Emails, Welcome] })
 * class EmailModule {}
 * ```
 */
export function DelayQueue<const Payload extends PayloadSpec>(
  queue: string,
  payload: Payload,
  options?: TypedQueueOptions,
): QueueClass<Payload, QueueOfOneKind<Payload>>;
/**
 * Makes the class of a queue with several types of messages.
 *
 * @param queue - 1–128 of the characters `A–Z a–z 0–9 _ . : -`
 * @param payloads - by type (1–64 of the characters `A–Z a–z 0–9 _ . : -`): a Standard Schema, a DTO class, or `payload<T>()`
 * @param options - override the module's `defaults`; what `queues` says of the queue overrides them. `instance` names the instance that
 *   the queue belongs to
 * @throws DelayQueueError `INVALID_OPTION`
 *
 * @example
 * ```ts
 * class Orders extends DelayQueue('orders', {
 *   'cancel-unpaid': payload<{ orderId: string }>(),
 *   remind: payload<{ orderId: string; nth: number }>(),
 * }) {}
 *
 * class OrderTimeouts {
 *   constructor(private readonly orders: Orders) {}
 *   place(orderId: string) {
 *     return this.orders.offer('cancel-unpaid', { orderId }, '30m', { id: orderId });
 *   }
 *   @DelayedHandler(Orders, 'cancel-unpaid')
 *   async cancel({ orderId }: PayloadOf<typeof Orders, 'cancel-unpaid'>) {}
 * }
 * ```
 */
export function DelayQueue<const Payloads extends Readonly<Record<string, PayloadSpec>>>(
  queue: string,
  payloads: Payloads,
  options?: TypedQueueOptions,
): QueueClass<Payloads, QueueOfTypes<Payloads>>;
export function DelayQueue(
  queue: string,
  payloads: object,
  options: TypedQueueOptions = {},
): QueueClass<unknown, unknown> {
  const definition = defineQueue(queue, payloads, options);
  const Handle: new (definition: QueueDefinition) => QueueHandle = typesOf(definition) ? TypesHandle : OneKindHandle;
  const Queue = class extends Handle {
    static readonly definition = definition;

    constructor() {
      super(definition);
    }
  };
  injectInstance(Queue, definition.instance ?? UNNAMED);
  return Queue;
}
