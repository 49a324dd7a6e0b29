import { Inject, Injectable } from '@nestjs/common';
import { checkEncoded, type PayloadCheck } from '../handler/definition/payload-check.js';
import type { CheckOfType } from '../handler/definition/queue-definition.js';
import { Observers } from '../events/observers.js';
import { AgainAdvice } from '../handler/again-advice.js';
import { MessageIdGenerator } from '../message/message-id.js';
import { NO_TYPE } from '../message/message-type.js';
import type { MessageHeaders } from '../message/message.js';
import type { ResolvedModuleOptions } from '../options/module-options-schema.js';
import { CLOCK, RESOLVED_OPTIONS } from '../runtime/delay-queue-tokens.js';
import { QueueRegistrar } from '../runtime/queue-registrar.js';
import { Queues } from '../runtime/queues.js';
import type { DueTime, Offer } from '../store/message-intake.js';
import type { Clock } from '../timing/clock.js';
import { withinTimeout } from '../handler/completion.js';
import {
  checkOfferOptions,
  dueAfter,
  ofMessage,
  type OfferOptions,
  type OfferRequest,
  type OfferResult,
  readEach,
  readHeaders,
  readRequest,
} from './offer.js';
import { heldUp, uncheckedInTime } from './offer-timeout.js';
import { OfferWriter, type Writer, type WriterContext } from './offer-writer.js';
import { PartitionedWriter } from './partitioned-writer.js';
import { prepareOffer, type PreparedOptions } from './prepare-offer.js';

/** An offer whose arguments are checked. */
export interface NewMessage {
  readonly payload: unknown;
  readonly due: DueTime;
  readonly options: PreparedOptions;
}

const unchecked: CheckOfType = () => undefined;

/** Makes the offers of this process. The producer and the typed queues share it: so offers of one turn leave in one call. */
@Injectable()
export class Offers {
  @Inject() private readonly queues!: Queues;
  @Inject() private readonly advice!: AgainAdvice;
  @Inject() private readonly registrar!: QueueRegistrar;
  @Inject() private readonly observers!: Observers;
  @Inject(CLOCK) private readonly clock!: Clock;
  @Inject(RESOLVED_OPTIONS) private readonly limits!: Pick<ResolvedModuleOptions, 'offerTimeout'>;

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
    const observed = withId(message, this.#writerOf(queue));
    return this.#observed(queue, [observed], (headers) => this.#offer(queue, withHeaders(observed, headers), checkOf));
  }

  /**
   * Makes many offers, all of which are checked before the first is written.
   *
   * @throws DelayQueueError at once, or in the promise
   */
  offerMany(queue: string, requests: readonly OfferRequest[], checkOf = unchecked): Promise<OfferResult[]> {
    if (!this.observers.offer) return this.#offerMany(queue, requests, { read: readMessage, checkOf });
    const writer = this.#writerOf(queue);
    const observed = readEach(requests, (request) => withId(readMessage(request), writer));
    return this.#observed(queue, observed, (headers) =>
      this.#offerMany(queue, observed, { read: (message) => withHeaders(message, headers), checkOf }),
    );
  }

  #offer(queue: string, { payload, due, options }: NewMessage, checkOf: CheckOfType): Promise<OfferResult> {
    const writer = this.#writerOf(queue);
    const check = checkOf(options.type ?? NO_TYPE);
    const offer = prepareOffer(writer, payload, due, options);
    const checked = check && this.#check(check, offer, writer, options);
    if (checked) return checked.then(() => this.#current(writer).write(offer));
    return this.#current(writer).write(offer);
  }

  async #offerMany<Given>(
    queue: string,
    given: readonly Given[],
    { read, checkOf }: { readonly read: (given: Given) => NewMessage; readonly checkOf: CheckOfType },
  ): Promise<OfferResult[]> {
    const writer = this.#writerOf(queue);
    const checks: Promise<unknown>[] = [];
    const offers = readEach(given, (each, i) => {
      const { payload, due, options } = read(each);
      const check = checkOf(options.type ?? NO_TYPE);
      const offer = prepareOffer(writer, payload, due, options);
      const checked = check && this.#check(check, offer, writer, options);
      if (checked) checks.push(refuseMessage(i, checked));
      return offer;
    });
    await Promise.all(checks);
    return this.#current(writer).writeMany(offers);
  }

  async #observed<Result>(
    queue: string,
    messages: readonly NewMessage[],
    offer: (headers: MessageHeaders | undefined) => Promise<Result>,
  ): Promise<Result> {
    const carriesHeaders = this.queues.named(queue).options.layout.can.headers;
    const envelopes = messages.map(({ options: { id, newId, type = NO_TYPE, headers = {} } }) => ({
      id: (id ?? newId)!,
      type,
      headers,
    }));
    const work = (given?: MessageHeaders) => {
      const headers = given === undefined ? undefined : readHeaders(given);
      // What it throws at once must not look like a mistake of the observer.
      return Promise.resolve().then(() => offer(carriesHeaders ? headers : undefined));
    };
    return (await this.observers.offer!({ queue, messages: envelopes, carriesHeaders }, work, {
      timeout: this.limits.offerTimeout,
      onTimeout: (observer, timeout) => Promise.reject(heldUp(queue, observer, timeout)),
    })) as Result;
  }

  /** Checks a payload as it will be read. Returns a promise if its schema takes its time. */
  #check(
    check: PayloadCheck,
    { body }: Offer,
    { queue: { name, codec } }: Writer,
    { type = NO_TYPE }: OfferOptions,
  ): Promise<unknown> | undefined {
    const payload = { queue: name, type, body, codec };
    const checked = checkEncoded(check, payload);
    if (!checked) return undefined;
    return withinTimeout(checked, {
      clock: this.clock,
      timeout: this.limits.offerTimeout,
      onTimeout: (timeout) => uncheckedInTime(payload, timeout),
    });
  }

  /**
   * The writer of a queue.
   *
   * @throws DelayQueueError `INVALID_ARGUMENT` if that is no name of a queue
   */
  #writerOf(queue: string): Writer {
    const busy = this.#context.busy.get(queue);
    if (busy?.isCurrent) return busy;
    const known = this.queues.named(queue);
    return known.partitions.partitioning.count === 1
      ? new OfferWriter(known, this.#context)
      : new PartitionedWriter(known, this.#context);
  }

  /** Checked again once an offer is prepared: the payload's own code, such as its `toJSON`, may have offered meanwhile. */
  #current(writer: Writer): Writer {
    const busy = this.#context.busy.get(writer.queue.name);
    return busy?.isCurrent ? busy : writer;
  }
}

function readMessage(request: OfferRequest): NewMessage {
  const { payload, delay, ...options } = readRequest(request);
  return { payload, due: dueAfter(delay), options: checkOfferOptions(options) };
}

/** Observers know each message by its id, so it has one before it is prepared. */
function withId({ options, ...message }: NewMessage, writer: Writer): NewMessage {
  return options.id === undefined
    ? { ...message, options: { ...options, newId: writer.newId() } }
    : { ...message, options };
}

/** What the user gave counts. */
function withHeaders({ options, ...message }: NewMessage, added: MessageHeaders | undefined): NewMessage {
  if (!added) return { ...message, options };
  return { ...message, options: { ...options, headers: { ...added, ...options.headers } } };
}

/** Names the message in the list that its check refuses. */
function refuseMessage(index: number, checked: Promise<unknown>): Promise<unknown> {
  const check = checked.catch((error: unknown) => Promise.reject(ofMessage(index, error) as Error));
  // A later message may be refused first, and nobody waits for this check then.
  check.catch(() => undefined);
  return check;
}
