import { Inject } from '@nestjs/common';
import { type CheckOfType, checksOf, type QueueDefinition } from '../handler/definition/queue-definition.js';
import { dueAfter, dueAt } from '../message/due-time.js';
import type { Duration } from '../message/duration.js';
import type { MessageCounts, MessageSnapshot, MessageState } from '../message/message.js';
import { NO_TYPE } from '../message/message-type.js';
import type { RepeatOptions } from '../options/repeat-options.js';
import { type MessageChange, readChangeOfOneKind, readChangeOfTypes } from './change.js';
import { Changes } from './changes.js';
import type { DeadLetters } from './dead-letters.js';
import { DelayQueueProducer } from './delay-queue-producer.js';
import {
  type NewMessage,
  type OfferRequest,
  type OfferResult,
  readTypedOfferOptions,
  type TypedOfferOptions,
} from './offer.js';
import { tokenOf } from './inject-producer.js';
import { Offers } from './offers.js';
import type { MessageGroup } from '../groups/message-group.js';
import type { MessagePage, MessageQuery } from '../message/page.js';
import type { QueueCounts } from './queue-views.js';
import { Repeats } from './repeats.js';

// Names that no property of the class that extends the handle can have.
const PRODUCER = Symbol('producer');
const OFFERS = Symbol('offers');
const OFFER = Symbol('offer');
const CHANGES = Symbol('changes');
const CHANGE = Symbol('change');
const REPEATS = Symbol('repeats');
const REPEAT = Symbol('repeat');

/** What the handle of a typed queue does at run time. `typed-queue.ts` says what the compiler lets through. */
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

  cancel(id: string): Promise<boolean> {
    return this[PRODUCER].cancel(this.queue, id);
  }

  abort(id: string): Promise<boolean> {
    return this[PRODUCER].abort(this.queue, id);
  }

  find(id: string): Promise<MessageSnapshot | null> {
    return this[PRODUCER].find(this.queue, id);
  }

  list(state: MessageState, query?: MessageQuery): Promise<MessagePage> {
    return this[PRODUCER].list(this.queue, state, query);
  }

  counts(): Promise<QueueCounts> {
    return this[PRODUCER].counts(this.queue);
  }

  countsByType(): Promise<ReadonlyMap<string, MessageCounts>> {
    return this[PRODUCER].countsByType(this.queue);
  }

  nextDue(): Promise<Date | null> {
    return this[PRODUCER].nextDue(this.queue);
  }

  pause(): Promise<void> {
    return this[PRODUCER].pause(this.queue);
  }

  resume(): Promise<void> {
    return this[PRODUCER].resume(this.queue);
  }

  isPaused(): Promise<boolean> {
    return this[PRODUCER].isPaused(this.queue);
  }

  clear(): Promise<number> {
    return this[PRODUCER].clear(this.queue);
  }

  deadLetters(): DeadLetters {
    return this[PRODUCER].deadLetters(this.queue);
  }

  group(group: string): MessageGroup {
    return this[PRODUCER].group(this.queue, group);
  }

  protected [OFFER](message: NewMessage): Promise<OfferResult> {
    return this[OFFERS].offer(this.queue, message, this.#checkOf);
  }

  protected [REPEAT](type: string, id: string, options: RepeatOptions, payload: unknown): Promise<OfferResult> {
    return this[REPEATS].repeat(this.queue, { id, type, options, payload, check: this.#checkOf(type) });
  }

  protected [CHANGE](id: string, due: Duration | Date, change: MessageChange | undefined): Promise<boolean> {
    return this[CHANGES].reschedule(this.queue, { id, due, change, checkOf: this.#checkOf });
  }
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
    return this[OFFER]({ payload, due: dueAfter(delay), options: readTypedOfferOptions(NO_TYPE, options) });
  }

  async offerAt(payload: unknown, date: Date, options?: TypedOfferOptions): Promise<OfferResult> {
    return this[OFFER]({ payload, due: dueAt(date), options: readTypedOfferOptions(NO_TYPE, options) });
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
    return this[OFFER]({ payload, due: dueAfter(delay), options: readTypedOfferOptions(type, options) });
  }

  async offerAt(type: string, payload: unknown, date: Date, options?: TypedOfferOptions): Promise<OfferResult> {
    return this[OFFER]({ payload, due: dueAt(date), options: readTypedOfferOptions(type, options) });
  }

  async repeat(type: string, id: string, options: RepeatOptions, payload: unknown): Promise<OfferResult> {
    return this[REPEAT](type, id, options, payload);
  }

  async reschedule(id: string, due: Duration | Date, change?: MessageChange): Promise<boolean> {
    return this[CHANGE](id, due, readChangeOfTypes(change));
  }
}
