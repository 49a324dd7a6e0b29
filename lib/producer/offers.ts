import { Inject, Injectable, Optional } from '@nestjs/common';
import type { Hooks } from '../message/delay-queue-observer.js';
import { EncryptedPayload } from '../message/codec/encrypted-payload.js';
import { isInstance } from '../message/failure.js';
import { AgainAdvice } from '../runtime/again-advice.js';
import type { CheckOfType } from '../options/queue-definition.js';
import { MessageIdGenerator, NO_TYPE } from '../message/message-id.js';
import type { MessageHeaders } from '../message/message.js';
import type { ResolvedModuleOptions } from '../options/module-options-schema.js';
import { CLOCK, HOOKS, RESOLVED_OPTIONS } from '../runtime/delay-queue-tokens.js';
import { QueueRegistrar } from '../runtime/queue-registrar.js';
import type { Queue } from '../runtime/queues.js';
import type { Offer } from '../store/producer-store.js';
import type { Clock } from '../timing/clock.js';
import {
  type NewMessage,
  type OfferRequest,
  type OfferResult,
  ofMessage,
  readEach,
  readHeaders,
  readRequest,
  withRetries,
} from './offer.js';
import type { PayloadRules } from './changes.js';
import { checkInTime, tookTooLong } from './payload-in-time.js';
import { QueueWriter, type WriterContext } from './queue-writer.js';

/** Makes this process's offers. The producer and the typed queues share it, so their offers of one event-loop turn can share a call. */
@Injectable()
export class Offers {
  @Optional() @Inject(HOOKS) private readonly hooks?: Hooks;
  @Inject(CLOCK) private readonly clock!: Clock;
  @Inject(RESOLVED_OPTIONS) private readonly limits!: Pick<ResolvedModuleOptions, 'offerTimeout'>;

  readonly #writers = new WeakMap<Queue, QueueWriter>();
  readonly #context: WriterContext;

  constructor(registrar: QueueRegistrar, advice: AgainAdvice) {
    this.#context = { ids: new MessageIdGenerator(), registrar, advice, callsUnderWay: 0 };
  }

  /**
   * Makes one offer.
   * @param checkOf - finds the payload check of a type; undefined: no check
   * @throws DelayQueueError at once, or in the promise
   */
  offer(queue: Queue, message: NewMessage, checkOf?: CheckOfType): Promise<OfferResult> {
    const writer = this.writerOf(queue);
    const around = this.hooks?.offer;
    if (!around && !checkOf) return writer.write(writer.encode(message));
    if (!around) return this.#offer(writer, message, checkOf);
    const observed = withNewId(message, writer);
    return this.#observe(around, writer, [observed], (headers) =>
      this.#offer(writer, withHeaders(observed, headers), checkOf),
    );
  }

  /**
   * Makes many offers. All of them are checked before the first is written.
   * @param rules - of a typed queue
   * @throws DelayQueueError at once, or in the promise
   */
  offerMany(queue: Queue, requests: readonly OfferRequest[], rules?: PayloadRules): Promise<OfferResult[]> {
    const { checkOf, retries } = rules ?? {};
    const writer = this.writerOf(queue);
    const around = this.hooks?.offer;
    const read = retries?.size ? (request: OfferRequest) => ofType(readRequest(request), retries) : readRequest;
    if (!around) return this.#offerMany(writer, requests, read, checkOf);
    const observed = readEach(requests, (request) => withNewId(read(request), writer));
    return this.#observe(around, writer, observed, (headers) =>
      this.#offerMany(writer, observed, (message) => withHeaders(message, headers), checkOf),
    );
  }

  writerOf(queue: Queue): QueueWriter {
    let writer = this.#writers.get(queue);
    if (!writer) this.#writers.set(queue, (writer = new QueueWriter(queue, this.#context)));
    return writer;
  }

  #offer(writer: QueueWriter, message: NewMessage, checkOf: CheckOfType | undefined): Promise<OfferResult> {
    const offer = writer.encode(message);
    const checked = checkOf && this.#check(writer, message, offer, checkOf);
    return checked ? checked.then(() => writer.write(offer)) : writer.write(offer);
  }

  async #offerMany<Given>(
    writer: QueueWriter,
    given: readonly Given[],
    read: (given: Given) => NewMessage,
    checkOf: CheckOfType | undefined,
  ): Promise<OfferResult[]> {
    const checks: Promise<unknown>[] = [];
    const offers = readEach(given, (each, i) => {
      const message = read(each);
      const offer = writer.encode(message);
      const checked = checkOf && this.#check(writer, message, offer, checkOf);
      if (checked) checks.push(namingMessage(i, checked));
      return offer;
    });
    await Promise.all(checks);
    return writer.writeMany(offers);
  }

  /**
   * Checks a payload in the form in which its handler will get it.
   * @returns a promise if the payload's schema is asynchronous
   * @throws DelayQueueError `INVALID_PAYLOAD`
   */
  #check(
    { queue: { name: queue, codec } }: QueueWriter,
    { options: { type = NO_TYPE } }: NewMessage,
    { body }: Offer,
    checkOf: CheckOfType,
  ): Promise<unknown> | undefined {
    const check = checkOf(type);
    return check && checkInTime(check, { queue, type, body, codec }, this.clock, this.limits);
  }

  async #observe<Result>(
    around: NonNullable<Hooks['offer']>,
    { queue: { name: queue, options } }: QueueWriter,
    messages: readonly NewMessage[],
    offer: (headers: MessageHeaders | undefined) => Promise<Result>,
  ): Promise<Result> {
    // What is encrypted elsewhere cannot take any more headers.
    const isOpen = messages.every(({ payload }) => !isInstance(payload, EncryptedPayload));
    const carriesHeaders = options.layout.can.headers && isOpen;
    const envelopes = messages.map(({ options: { id, type = NO_TYPE, headers = {}, special }, newId }) => ({
      id: (id ?? newId)!,
      type,
      headers,
      ...(special?.group !== undefined && { group: special.group }),
    }));
    const work = (given?: MessageHeaders) => {
      const headers = given === undefined ? undefined : readHeaders(given);
      // Offers within a promise, because an error thrown synchronously would be mistaken for the observer's.
      return Promise.resolve().then(() => offer(carriesHeaders ? headers : undefined));
    };
    return (await around({ queue, messages: envelopes, carriesHeaders }, work, {
      timeout: this.limits.offerTimeout,
      onTimeout: (observer, timeout) => {
        const what = `offer to queue '${queue}': the observer ${observer} did not call next()`;
        return Promise.reject(tookTooLong(what, timeout));
      },
    })) as Result;
  }
}

/** Gives a message the attempts and backoff of its type. */
function ofType(message: NewMessage, retries: PayloadRules['retries']): NewMessage {
  const { options } = message;
  return { ...message, options: withRetries(options, retries.get(options.type ?? NO_TYPE)) };
}

/** Generates a missing id before the message is encoded, because observers identify messages by id. */
function withNewId(message: NewMessage, writer: QueueWriter): NewMessage {
  return message.options.id === undefined ? { ...message, newId: writer.newId() } : message;
}

/** Adds headers to a message. The message's own headers take precedence. */
function withHeaders(message: NewMessage, added: MessageHeaders | undefined): NewMessage {
  if (!added) return message;
  return { ...message, options: { ...message.options, headers: { ...added, ...message.options.headers } } };
}

/** Adds the message's index in the list to an error from its check. */
function namingMessage(index: number, checked: Promise<unknown>): Promise<unknown> {
  const check = checked.catch((error: unknown) => Promise.reject(ofMessage(index, error) as Error));
  // If another message is refused first, nobody awaits this check, and its rejection must not count as unhandled.
  check.catch(() => undefined);
  return check;
}
