import { Inject } from '@nestjs/common';
import { readContent } from '../codec/read-content.js';
import type { CheckedPayload } from '../definition/payload-check.js';
import { type CheckOfType, checksOf, type QueueDefinition } from '../definition/queue-definition.js';
import { DelayQueueError } from '../message/delay-queue.errors.js';
import type { Duration } from '../message/duration.js';
import type { MessageCounts, MessageSnapshot } from '../message/message.js';
import { NO_TYPE } from '../message/message-type.js';
import type { DueTime, Offer } from '../store/message-intake.js';
import type { DeadLetters } from './dead-letters.js';
import { DelayQueueProducer } from './delay-queue.producer.js';
import {
  checkOfferOptions,
  dueAfter,
  dueAt,
  ofMessage,
  type OfferOptions,
  type OfferRequest,
  type OfferResult,
  readEach,
  readRequest,
  readTypedOfferOptions,
  type TypedOfferOptions,
} from './offer.js';
import type { OfferWriter } from './offer.writer.js';
import { Offers } from './offers.js';
import type { RedissonQueue } from './redisson-queue.js';

interface NewMessage {
  readonly payload: unknown;
  readonly due: DueTime;
  readonly options: OfferOptions;
}

// Names that no property of the class that extends the handle can have.
const PRODUCER = Symbol('producer');
const OFFERS = Symbol('offers');
const OFFER = Symbol('offer');

/** What the handle of a typed queue does at run time. `typed-queue.ts` says what the compiler lets through. */
export class QueueHandle {
  // Injected into properties, so that a class that extends it may have a constructor of its own.
  @Inject() private readonly [PRODUCER]!: DelayQueueProducer;
  @Inject() private readonly [OFFERS]!: Offers;
  readonly queue: string;
  readonly #checkOf: CheckOfType;

  constructor(definition: QueueDefinition) {
    this.queue = definition.queue;
    this.#checkOf = checksOf(definition);
  }

  async offerMany(messages: readonly OfferRequest[]): Promise<OfferResult[]> {
    const writer = this[OFFERS].writerOf(this.queue);
    const checks: Promise<void>[] = [];
    const offers = readEach(messages, (message, i) => {
      const { payload, delay, ...given } = readRequest(message);
      const options = checkOfferOptions(given);
      const { offer, checked } = this.#prepare(writer, { payload, due: dueAfter(delay), options });
      if (checked) checks.push(refuseMessage(i, checked));
      return offer;
    });
    await Promise.all(checks);
    return this[OFFERS].current(writer).writeMany(offers);
  }

  cancel(id: string): Promise<boolean> {
    return this[PRODUCER].cancel(this.queue, id);
  }

  reschedule(id: string, delay: Duration): Promise<boolean> {
    return this[PRODUCER].reschedule(this.queue, id, delay);
  }

  find(id: string): Promise<MessageSnapshot | null> {
    return this[PRODUCER].find(this.queue, id);
  }

  counts(): Promise<MessageCounts> {
    return this[PRODUCER].counts(this.queue);
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

  clear(): Promise<number> {
    return this[PRODUCER].clear(this.queue);
  }

  deadLetters(): DeadLetters {
    return this[PRODUCER].deadLetters(this.queue);
  }

  redisson(): RedissonQueue {
    return this[PRODUCER].redisson(this.queue);
  }

  protected async [OFFER](message: NewMessage): Promise<OfferResult> {
    const writer = this[OFFERS].writerOf(this.queue);
    const { offer, checked } = this.#prepare(writer, message);
    if (checked) await checked;
    return this[OFFERS].current(writer).write(offer);
  }

  /** Encodes a message, and checks it as it will be read. `checked`: only if its schema takes its time. */
  #prepare(writer: OfferWriter, { payload, due, options }: NewMessage): { offer: Offer; checked?: Promise<void> } {
    const { type = NO_TYPE } = options;
    const check = this.#checkOf(type);
    const offer = writer.prepare(payload, due, options);
    if (!check) return { offer };
    const refuse = (checked: CheckedPayload) => refuseInvalid(checked, this.queue, type);
    const checked = check(readContent(writer.queue.codec, Buffer.from(offer.body)).payload);
    if (checked instanceof Promise) return { offer, checked: checked.then(refuse) };
    refuse(checked);
    return { offer };
  }
}

/** Names the message in the list that its check refuses. */
function refuseMessage(index: number, checked: Promise<void>): Promise<void> {
  const check = checked.catch((error: unknown) => Promise.reject(ofMessage(index, error) as Error));
  // A later message may be refused first, and nobody waits for this check then.
  check.catch(() => undefined);
  return check;
}

function refuseInvalid(checked: CheckedPayload, queue: string, type: string): void {
  if (!('problem' in checked)) return;
  const what = type === NO_TYPE ? `of queue '${queue}'` : `of type '${type}' of queue '${queue}'`;
  throw new DelayQueueError('INVALID_PAYLOAD', `payload ${what}: ${checked.problem}`, { cause: checked.cause });
}

/** The handle of a queue whose messages have no type. */
export class OneKindHandle extends QueueHandle {
  async offer(payload: unknown, delay: Duration, options?: TypedOfferOptions): Promise<OfferResult> {
    return this[OFFER]({ payload, due: dueAfter(delay), options: readTypedOfferOptions(NO_TYPE, options) });
  }

  async offerAt(payload: unknown, date: Date, options?: TypedOfferOptions): Promise<OfferResult> {
    return this[OFFER]({ payload, due: dueAt(date), options: readTypedOfferOptions(NO_TYPE, options) });
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
}
