import { Inject } from '@nestjs/common';
import {
  checksOf,
  type DefinedBy,
  defineQueue,
  type PayloadInput,
  type PayloadSpec,
  type QueueDefinition,
  retriesOf,
  type SpecOf,
  typesOf,
  type TypesOf,
} from '../options/queue-definition.js';
import { type CheckedDuration, dueAt, type DueTime, type Duration, readDelay } from '../message/duration.js';
import { UNNAMED } from '../message/instance-name.js';
import { NO_TYPE } from '../message/message-id.js';
import type { RepeatOptions, TypedQueueOptions } from '../options/queue-options.js';
import type { Queue } from '../runtime/queues.js';
import { type PayloadRules, readChangeOfOneKind, readChangeOfTypes } from './changes.js';
import { tokenOf } from './delay-queue-producer.js';
import { type OfferResult, readTypedOfferOptions, type TypedOfferOptions, withRetries } from './offer.js';
import { NAMED, PARTS, QueueMethods, QueueParts, RULES } from './queue-methods.js';

const OFFER = Symbol('offer');
const REPEAT = Symbol('repeat');

/**
 * The methods of {@link DelayQueueProducer} that work the same for queues with and without message types, minus the `queue` argument.
 * Payloads are checked before they are written; those of a list are all checked before the first is written. Payloads are returned as they
 * were offered.
 * @typeParam Payloads - the payloads given to `DelayQueue()`
 */
export abstract class TypedQueue<Payloads> extends QueueMethods<[], Payloads> {
  /** @internal Injected into the prototype, so that a subclass may have its own constructor. */
  declare readonly [PARTS]: QueueParts;
  /** @internal */
  override readonly [RULES]: PayloadRules;
  /** The queue's name. */
  readonly queue: string;

  /** @internal */
  constructor(definition: QueueDefinition, readChange: PayloadRules['readChange']) {
    super();
    this.queue = definition.queue;
    this[RULES] = { checkOf: checksOf(definition), readChange, retries: retriesOf(definition) };
  }

  /** @internal */
  [NAMED]<Rest extends readonly unknown[]>(args: readonly [...Rest]): [Queue, ...Rest] {
    return [this[PARTS].queues.named(this.queue), ...args];
  }

  /** @internal */
  [OFFER](type: string, payload: unknown, due: DueTime, given: TypedOfferOptions | undefined): Promise<OfferResult> {
    const { offers, queues } = this[PARTS];
    const { checkOf, retries } = this[RULES];
    const options = withRetries(readTypedOfferOptions(type, given), retries.get(type));
    return offers.offer(queues.named(this.queue), { payload, due, options }, checkOf);
  }

  /** @internal */
  [REPEAT](type: string, id: string, options: RepeatOptions, payload: unknown): Promise<OfferResult> {
    const { repeats, queues } = this[PARTS];
    const { checkOf, retries } = this[RULES];
    const ofType = { check: checkOf(type), retries: retries.get(type) };
    return repeats.repeat(queues.named(this.queue), { id, type, options, payload, ...ofType });
  }
}

/** A typed queue whose messages are all of one kind, and therefore have no type. */
export class QueueOfOneKind<Payload> extends TypedQueue<Payload> {
  /** @internal */
  constructor(definition: QueueDefinition) {
    super(definition, readChangeOfOneKind);
  }

  /**
   * Like `DelayQueueProducer.offer`, but checks the payload as the handler will get it, after a round trip through JSON. The schema's input
   * is stored, not its output, so a schema that transforms is applied once, before the handler.
   * @throws DelayQueueError also `INVALID_PAYLOAD` if the schema refuses the payload; the error names paths, but no values
   */
  async offer<const Delay extends Duration = Duration>(
    payload: PayloadInput<Payload>,
    delay: CheckedDuration<Delay>,
    options?: TypedOfferOptions,
  ): Promise<OfferResult> {
    return this[OFFER](NO_TYPE, payload, { after: readDelay(delay) }, options);
  }

  /** Like `DelayQueueProducer.offerAt`, but checks the payload. */
  async offerAt(payload: PayloadInput<Payload>, date: Date, options?: TypedOfferOptions): Promise<OfferResult> {
    return this[OFFER](NO_TYPE, payload, dueAt(date), options);
  }

  /** Like `DelayQueueProducer.repeat`, but checks the payload. */
  async repeat(id: string, options: RepeatOptions, payload: PayloadInput<Payload>): Promise<OfferResult> {
    return this[REPEAT](NO_TYPE, id, options, payload);
  }
}

/** A typed queue with several types of messages. */
export class QueueOfTypes<Payloads> extends TypedQueue<Payloads> {
  /** @internal */
  constructor(definition: QueueDefinition) {
    super(definition, readChangeOfTypes);
  }

  /**
   * Like `DelayQueueProducer.offer`, but takes the type first and checks the payload as the handler will get it, after a round trip through
   * JSON. The schema's input is stored, not its output, so a schema that transforms is applied once, before the handler.
   * @throws DelayQueueError also `INVALID_PAYLOAD` if the schema refuses the payload; the error names paths, but no values
   */
  async offer<Type extends TypesOf<Payloads>, const Delay extends Duration = Duration>(
    type: Type,
    payload: PayloadInput<SpecOf<Payloads, Type>>,
    delay: CheckedDuration<Delay>,
    options?: TypedOfferOptions,
  ): Promise<OfferResult> {
    return this[OFFER](type, payload, { after: readDelay(delay) }, options);
  }

  /** Like `DelayQueueProducer.offerAt`, but takes the type first and checks the payload. */
  async offerAt<Type extends TypesOf<Payloads>>(
    type: Type,
    payload: PayloadInput<SpecOf<Payloads, Type>>,
    date: Date,
    options?: TypedOfferOptions,
  ): Promise<OfferResult> {
    return this[OFFER](type, payload, dueAt(date), options);
  }

  /** Like `DelayQueueProducer.repeat`, but takes the type first and checks the payload. */
  async repeat<Type extends TypesOf<Payloads>>(
    type: Type,
    id: string,
    options: RepeatOptions,
    payload: PayloadInput<SpecOf<Payloads, Type>>,
  ): Promise<OfferResult> {
    return this[REPEAT](type, id, options, payload);
  }
}

/** The class that `DelayQueue()` makes. Extend it. */
export interface QueueClass<Payloads, Handle> extends DefinedBy<Payloads> {
  /** Called by Nest. */
  new (): Handle;
}

/**
 * Makes the class of a queue with messages of one kind. A subclass of it is the queue's definition, injection token and typed handle.
 * @param queue - 1–128 of the characters `A–Z a–z 0–9 _ . : -`
 * @param payload - a Standard Schema (zod, valibot, arktype…), a DTO class, or `payload<T>()`
 * @param options - override the module's `defaults`; the queue's entry in `queues` overrides them. `instance` names the queue's instance
 * @throws DelayQueueError `INVALID_OPTION`
 * @example
 * ```ts
 * class Emails extends DelayQueue('emails', payload<{ to: string }>()) {}
 * @Injectable()
 * class Welcome {
 *   constructor(private readonly emails: Emails) {}
 *   greet(to: string) {
 *     return this.emails.offer({ to }, '1h');
 *   }
 *   @DelayedHandler(Emails)
 *   async send({ to }: PayloadOf<typeof Emails>) {}
 * }
 * @Module({ providers: [Emails, Welcome] })
 * class EmailModule {}
 * ```
 */
export function DelayQueue<const Payload extends PayloadSpec>(
  queue: string,
  payload: Payload,
  options?: TypedQueueOptions<never>,
): QueueClass<Payload, QueueOfOneKind<Payload>>;
/**
 * Makes the class of a queue with several types of messages.
 * @param queue - 1–128 of the characters `A–Z a–z 0–9 _ . : -`
 * @param payloads - by type (1–64 of the characters `A–Z a–z 0–9 _ . : -`): a Standard Schema, a DTO class, or `payload<T>()`
 * @param options - override the module's `defaults`; the queue's entry in `queues` overrides them. `instance` names the queue's instance
 * @throws DelayQueueError `INVALID_OPTION`
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
  options?: TypedQueueOptions<keyof Payloads & string>,
): QueueClass<Payloads, QueueOfTypes<Payloads>>;
export function DelayQueue(
  queue: string,
  payloads: object,
  options: TypedQueueOptions = {},
): QueueClass<unknown, unknown> {
  const definition = defineQueue(queue, payloads, options);
  const Handle: new (definition: QueueDefinition) => TypedQueue<unknown> = typesOf(definition)
    ? QueueOfTypes
    : QueueOfOneKind;
  const Queue = class extends Handle {
    static readonly definition = definition;

    constructor() {
      super(definition);
    }
  };
  Inject(tokenOf(QueueParts, definition.instance ?? UNNAMED))(Queue.prototype, PARTS);
  return Queue;
}
