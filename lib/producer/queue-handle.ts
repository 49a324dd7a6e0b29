import { Inject } from '@nestjs/common';
import { type CheckOfType, checksOf, type QueueDefinition } from '../handler/definition/queue-definition.js';
import { type DueTime, dueAt } from '../message/due-time.js';
import { type Duration, readDelay } from '../message/duration.js';
import { NO_TYPE } from '../message/message-type.js';
import type { RepeatOptions } from '../options/repeat-options.js';
import { Changes, type MessageChange, readChangeOfOneKind, readChangeOfTypes } from './changes.js';
import { DelayQueueProducer } from './delay-queue-producer.js';
import { tokenOf } from './inject-producer.js';
import { type OfferRequest, type OfferResult, readTypedOfferOptions, type TypedOfferOptions } from './offer.js';
import { Offers } from './offers.js';
import { Repeats } from './repeats.js';

// Names that no property of the class that extends the handle can have.
const PRODUCER = Symbol('producer');
const OFFERS = Symbol('offers');
const OFFER = Symbol('offer');
const CHANGES = Symbol('changes');
const CHANGE = Symbol('change');
const REPEATS = Symbol('repeats');
const REPEAT = Symbol('repeat');

/**
 * What the handle of a typed queue does at run time, besides the methods in {@link AS_PRODUCER}. `typed-queue.ts` says what the compiler
 * lets through.
 */
export class QueueHandle {
  private readonly [PRODUCER]!: DelayQueueProducer;
  private readonly [OFFERS]!: Offers;
  private readonly [CHANGES]!: Changes;
  private readonly [REPEATS]!: Repeats;
  readonly queue: string;
  readonly #checkOf: CheckOfType;

  constructor(definition: QueueDefinition) {
    this.queue = definition.queue;
    this.#checkOf = checksOf(definition);
  }

  async offerMany(messages: readonly OfferRequest[]): Promise<OfferResult[]> {
    return this[OFFERS].offerMany(this.queue, messages, this.#checkOf);
  }

  protected [OFFER](
    type: string,
    payload: unknown,
    due: DueTime,
    options: TypedOfferOptions | undefined,
  ): Promise<OfferResult> {
    const message = { payload, due, options: readTypedOfferOptions(type, options) };
    return this[OFFERS].offer(this.queue, message, this.#checkOf);
  }

  protected [REPEAT](type: string, id: string, options: RepeatOptions, payload: unknown): Promise<OfferResult> {
    return this[REPEATS].repeat(this.queue, { id, type, options, payload, check: this.#checkOf(type) });
  }

  protected [CHANGE](id: string, due: Duration | Date, change: MessageChange | undefined): Promise<boolean> {
    return this[CHANGES].reschedule(this.queue, { id, due, change, checkOf: this.#checkOf });
  }
}

/** Methods of the producer that are about no queue, or that a typed queue has otherwise. */
type Others =
  ('instance' | 'known' | 'relayTarget' | 'queues') | ('offer' | 'offerAt' | 'offerMany' | 'repeat' | 'reschedule');

/** The methods that are those of the producer without the queue's name. The compiler demands that they are complete. */
const AS_PRODUCER: Record<Exclude<keyof DelayQueueProducer, Others>, true> = {
  cancel: true,
  abort: true,
  find: true,
  list: true,
  counts: true,
  countsByType: true,
  nextDue: true,
  pause: true,
  resume: true,
  isPaused: true,
  clear: true,
  deadLetters: true,
  group: true,
};

for (const name of Object.keys(AS_PRODUCER) as (keyof typeof AS_PRODUCER)[]) {
  const value = function (this: QueueHandle, ...args: unknown[]): unknown {
    const producer = this[PRODUCER] as unknown as Record<string, (...args: unknown[]) => unknown>;
    return producer[name]!(this.queue, ...args);
  };
  Object.defineProperty(value, 'name', { value: name });
  Object.defineProperty(QueueHandle.prototype, name, { value, configurable: true, writable: true });
}

/** Has an instance injected into the properties of a class, so that one that extends it may have a constructor of its own. */
export function injectInstance({ prototype }: { readonly prototype: object }, instance: string): void {
  Inject(tokenOf(DelayQueueProducer, instance))(prototype, PRODUCER);
  Inject(tokenOf(Offers, instance))(prototype, OFFERS);
  Inject(tokenOf(Changes, instance))(prototype, CHANGES);
  Inject(tokenOf(Repeats, instance))(prototype, REPEATS);
}

/** The handle of a queue whose messages have no type. */
export class OneKindHandle extends QueueHandle {
  async offer(payload: unknown, delay: Duration, options?: TypedOfferOptions): Promise<OfferResult> {
    return this[OFFER](NO_TYPE, payload, { after: readDelay(delay) }, options);
  }

  async offerAt(payload: unknown, date: Date, options?: TypedOfferOptions): Promise<OfferResult> {
    return this[OFFER](NO_TYPE, payload, dueAt(date), options);
  }

  async repeat(id: string, options: RepeatOptions, payload: unknown): Promise<OfferResult> {
    return this[REPEAT](NO_TYPE, id, options, payload);
  }

  async reschedule(id: string, due: Duration | Date, change?: MessageChange): Promise<boolean> {
    return this[CHANGE](id, due, readChangeOfOneKind(change));
  }
}

/** The handle of a queue whose messages have types. */
export class TypesHandle extends QueueHandle {
  async offer(type: string, payload: unknown, delay: Duration, options?: TypedOfferOptions): Promise<OfferResult> {
    return this[OFFER](type, payload, { after: readDelay(delay) }, options);
  }

  async offerAt(type: string, payload: unknown, date: Date, options?: TypedOfferOptions): Promise<OfferResult> {
    return this[OFFER](type, payload, dueAt(date), options);
  }

  async repeat(type: string, id: string, options: RepeatOptions, payload: unknown): Promise<OfferResult> {
    return this[REPEAT](type, id, options, payload);
  }

  async reschedule(id: string, due: Duration | Date, change?: MessageChange): Promise<boolean> {
    return this[CHANGE](id, due, readChangeOfTypes(change));
  }
}
