import { Inject, Injectable } from '@nestjs/common';
import { Observers } from '../events/observers.js';
import { AgainAdvice } from '../handler/again-advice.js';
import type { CheckOfType } from '../handler/definition/queue-definition.js';
import { encodeBody } from '../message/codec/encode-body.js';
import { MessageIdGenerator } from '../message/message-id.js';
import { NO_TYPE } from '../message/message-type.js';
import type { MessageHeaders } from '../message/message.js';
import type { ResolvedModuleOptions } from '../options/module-options-schema.js';
import { CLOCK, RESOLVED_OPTIONS } from '../runtime/delay-queue-tokens.js';
import { QueueRegistrar } from '../runtime/queue-registrar.js';
import { type Queue, Queues } from '../runtime/queues.js';
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
} from './offer.js';
import { checkInTime, tookTooLong } from './payload-in-time.js';
import { QueueWriter, type WriterContext } from './queue-writer.js';
import { assertSupported } from './unsupported.js';

/** An offer that is encoded. */
interface EncodedOffer extends Offer {
  /** The check of its payload, if its schema takes its time. */
  readonly checked: Promise<unknown> | undefined;
}

const unchecked: CheckOfType = () => undefined;
const NO_HEADERS: MessageHeaders = {};

/** Makes the offers of this process. The producer and the typed queues share it: so offers of one turn leave in one call. */
@Injectable()
export class Offers {
  @Inject() private readonly queues!: Queues;
  @Inject() private readonly advice!: AgainAdvice;
  @Inject() private readonly registrar!: QueueRegistrar;
  @Inject() private readonly observers!: Observers;
  @Inject(CLOCK) private readonly clock!: Clock;
  @Inject(RESOLVED_OPTIONS) private readonly limits!: Pick<ResolvedModuleOptions, 'offerTimeout'>;

  readonly #writers = new WeakMap<Queue, QueueWriter>();
  readonly #context: WriterContext = {
    ids: new MessageIdGenerator(),
    stickyIds: new Map(),
    calls: { underWay: 0 },
    busy: new Map(),
    register: (queue) => this.registrar.register(queue),
    onKept: (queue, id) => this.advice.onKept(queue, id),
  };

  /**
   * Makes one offer.
   *
   * @throws DelayQueueError at once, or in the promise
   */
  offer(queue: string, message: NewMessage, checkOf = unchecked): Promise<OfferResult> {
    if (!this.observers.offer) return this.#offer(queue, message, checkOf);
    const observed = withNewId(message, this.#writerOf(queue));
    return this.#observe(queue, [observed], (headers) => this.#offer(queue, withHeaders(observed, headers), checkOf));
  }

  /**
   * Makes many offers, all of which are checked before the first is written.
   *
   * @throws DelayQueueError at once, or in the promise
   */
  offerMany(queue: string, requests: readonly OfferRequest[], checkOf = unchecked): Promise<OfferResult[]> {
    if (!this.observers.offer) return this.#offerMany(queue, requests, readRequest, checkOf);
    const writer = this.#writerOf(queue);
    const observed = readEach(requests, (request) => withNewId(readRequest(request), writer));
    return this.#observe(queue, observed, (headers) =>
      this.#offerMany(queue, observed, (message) => withHeaders(message, headers), checkOf),
    );
  }

  #offer(queue: string, message: NewMessage, checkOf: CheckOfType): Promise<OfferResult> {
    const writer = this.#writerOf(queue);
    const offer = this.#encode(writer, message, checkOf);
    return offer.checked ? offer.checked.then(() => writer.write(offer)) : writer.write(offer);
  }

  async #offerMany<Given>(
    queue: string,
    given: readonly Given[],
    read: (given: Given) => NewMessage,
    checkOf: CheckOfType,
  ): Promise<OfferResult[]> {
    const writer = this.#writerOf(queue);
    const checks: Promise<unknown>[] = [];
    const offers = readEach(given, (each, i) => {
      const offer = this.#encode(writer, read(each), checkOf);
      if (offer.checked) checks.push(namingMessage(i, offer.checked));
      return offer;
    });
    await Promise.all(checks);
    return writer.writeMany(offers);
  }

  /**
   * Encodes a message and checks its size, and its payload as it will be read.
   *
   * @throws DelayQueueError `INVALID_PAYLOAD`, `PAYLOAD_TOO_LARGE`
   */
  #encode(writer: QueueWriter, { payload, due, options, newId }: NewMessage, checkOf: CheckOfType): EncodedOffer {
    const {
      type = NO_TYPE,
      id,
      headers = NO_HEADERS,
      onDuplicate = 'keep',
      expiry,
      maxWait,
      group,
      notAfter,
    } = options;
    if (onDuplicate === 'follow' || maxWait !== undefined || expiry || group !== undefined) {
      assertSupported(writer.queue, options);
    }
    const check = checkOf(type);
    const body = encodeBody(writer.bodyRules, { type, payload, headers, expiry, group });
    const isNew = id === undefined;
    const checked =
      check &&
      checkInTime(
        check,
        { queue: writer.queue.name, type, body, codec: writer.bodyRules.codec },
        this.clock,
        this.limits,
      );
    const offer = { id: id ?? newId ?? writer.newId(), due, onDuplicate, body, isNew, checked };
    if (maxWait === undefined && group === undefined && notAfter === undefined) return offer;
    return {
      ...offer,
      ...(maxWait !== undefined && { maxWait }),
      ...(group !== undefined && { group }),
      ...(notAfter !== undefined && { notAfter }),
    };
  }

  async #observe<Result>(
    queue: string,
    messages: readonly NewMessage[],
    offer: (headers: MessageHeaders | undefined) => Promise<Result>,
  ): Promise<Result> {
    const carriesHeaders = this.queues.named(queue).options.layout.can.headers;
    const envelopes = messages.map(({ options: { id, type = NO_TYPE, headers = {}, group }, newId }) => ({
      id: (id ?? newId)!,
      type,
      headers,
      ...(group !== undefined && { group }),
    }));
    const work = (given?: MessageHeaders) => {
      const headers = given === undefined ? undefined : readHeaders(given);
      // What it throws at once must not look like a mistake of the observer.
      return Promise.resolve().then(() => offer(carriesHeaders ? headers : undefined));
    };
    return (await this.observers.offer!({ queue, messages: envelopes, carriesHeaders }, work, {
      timeout: this.limits.offerTimeout,
      onTimeout: (observer, timeout) => {
        const what = `offer to queue '${queue}': the observer ${observer} did not call next()`;
        return Promise.reject(tookTooLong(what, timeout));
      },
    })) as Result;
  }

  /**
   * The writer of a queue. While it has pending offers, it is found by name: the queue itself may have been forgotten meanwhile.
   *
   * @throws DelayQueueError `INVALID_ARGUMENT` if that is no name of a queue
   */
  #writerOf(name: string): QueueWriter {
    const busy = this.#context.busy.get(name);
    if (busy) return busy;
    const queue = this.queues.named(name);
    let writer = this.#writers.get(queue);
    if (!writer) this.#writers.set(queue, (writer = new QueueWriter(queue, this.#context)));
    return writer;
  }
}

/** Observers know each message by its id, so it has one before it is encoded. */
function withNewId(message: NewMessage, writer: QueueWriter): NewMessage {
  return message.options.id === undefined ? { ...message, newId: writer.newId() } : message;
}

/** What the user gave counts. */
function withHeaders(message: NewMessage, added: MessageHeaders | undefined): NewMessage {
  if (!added) return message;
  return { ...message, options: { ...message.options, headers: { ...added, ...message.options.headers } } };
}

/** Names the message in the list that its check refuses. */
function namingMessage(index: number, checked: Promise<unknown>): Promise<unknown> {
  const check = checked.catch((error: unknown) => Promise.reject(ofMessage(index, error) as Error));
  // A later message may be refused first, and nobody waits for this check then.
  check.catch(() => undefined);
  return check;
}
