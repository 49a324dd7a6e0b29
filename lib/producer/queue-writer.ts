import type { AgainAdvice } from '../runtime/again-advice.js';
import { type BodyRules, encodeBody, type MessageBody, oversized } from '../message/codec/message-codec.js';
import { DelayQueueError, withMessageId } from '../message/delay-queue-errors.js';
import { type MessageIdGenerator, NO_TYPE } from '../message/message-id.js';
import type { MessageHeaders } from '../message/message.js';
import type { QueueRegistrar } from '../runtime/queue-registrar.js';
import type { Queue } from '../runtime/queues.js';
import type { DueTime, Offer, OfferReceipt, OnDuplicate } from '../store/producer-store.js';
import { type Destination, Repartitioned, type Router, WriteFailure, type WriteOutcome } from '../store/router.js';
import { inBatches, TurnBatcher } from '../timing/event-loop.js';
import type { NewMessage, OfferResult } from './offer.js';
import { assertSupported } from './assert-supported.js';
import { incomplete, incompleteInPartitions, refused, sortOutcomes } from './list-outcomes.js';

/** Limits of a call. They keep scripts short even with large payloads, and let Redis process one batch while the next is encoded. */
const BATCH = { maxItems: 250, maxWeight: 1024 * 1024, weigh: bodyLength, mayJoin: haveSameDeadline };

/** How many batches of one list are sent to a destination at once. */
const CONCURRENT_BATCHES = 4;

const NO_HEADERS: MessageHeaders = {};

/** An instance of a class, as {@link NewMessage} is. */
class EncodedOffer implements Offer {
  /** Undefined for the offers of a list, which are answered together. */
  resolve: ((result: OfferResult) => void) | undefined = undefined;
  reject: ((error: unknown) => void) | undefined = undefined;

  constructor(
    readonly id: string,
    readonly due: DueTime,
    readonly onDuplicate: OnDuplicate,
    readonly body: MessageBody,
    readonly isNew: boolean,
  ) {}
}

export interface WriterContext {
  readonly ids: MessageIdGenerator;
  readonly registrar: Pick<QueueRegistrar, 'register'>;
  /** Notified of offers that were ignored because their ids were in use. */
  readonly advice: Pick<AgainAdvice, 'onKept'>;
  /** The number of store calls not yet answered. */
  callsUnderWay: number;
}

/** Writes the offers of one queue. Offers that go to the same destination in the same turn of the event loop share a call. */
export class QueueWriter {
  readonly #rules: BodyRules;
  /** The batcher of each destination, created by the first offer to it. The router drops destinations when its stores change. */
  readonly #batchers = new WeakMap<Destination, TurnBatcher<EncodedOffer>>();

  constructor(
    readonly queue: Queue,
    private readonly context: WriterContext,
  ) {
    this.#rules = { codec: queue.codec, maxPayloadBytes: queue.options.maxPayloadBytes };
  }

  newId(): string {
    return this.context.ids.next(this.queue.router.idEnding?.());
  }

  /**
   * Encodes a message and checks its size.
   * @throws DelayQueueError `INVALID_PAYLOAD`, `PAYLOAD_TOO_LARGE`, `UNSUPPORTED_BY_LAYOUT`, `INVALID_ARGUMENT`
   */
  encode({ payload, due, options, newId }: NewMessage): EncodedOffer {
    const { type = NO_TYPE, id, headers = NO_HEADERS, onDuplicate = 'keep', special } = options;
    if (special) assertSupported(this.queue, onDuplicate, special);
    const content = {
      type,
      payload,
      headers,
      expiry: special?.expiry,
      retries: special?.retries,
      group: special?.group,
    };
    const body = encodeBody(this.#rules, content);
    const offer = new EncodedOffer(id ?? newId ?? this.newId(), due, onDuplicate, body, id === undefined);
    if (!special) return offer;
    const { group, maxWait, notAfter } = special;
    return {
      ...offer,
      ...(group !== undefined && { group }),
      ...(maxWait !== undefined && { maxWait }),
      ...(notAfter !== undefined && { notAfter }),
    };
  }

  /**
   * Writes one offer, together with the other offers of the same turn.
   * @throws DelayQueueError `DUPLICATE_MESSAGE`, `QUEUE_FULL`, `PAYLOAD_TOO_LARGE`, and the errors of the store
   */
  write(offer: EncodedOffer): Promise<OfferResult> {
    const { queue } = this;
    const destination = queue.router.route(offer);
    let batcher = this.#batchers.get(destination);
    if (!batcher) this.#batchers.set(destination, (batcher = this.#newBatcher(destination)));
    queue.pendingOffers++;
    return new Promise((resolve, reject) => {
      offer.resolve = resolve;
      offer.reject = reject;
      batcher.add(offer);
    });
  }

  /** Writes many offers. A refused one does not stop the rest; a single error reports all refusals. */
  async writeMany(offers: readonly Offer[]): Promise<OfferResult[]> {
    const { queue } = this;
    const count = offers.length;
    const isSpread = queue.router.idEnding !== undefined;
    queue.pendingOffers += count;
    const outcomes = await this.writeEach(offers).finally(() => (queue.pendingOffers -= count));
    const { results, refusals, failures } = sortOutcomes(outcomes, (receipt, i) => this.#result(offers[i]!, receipt));
    if (failures.length > 0) {
      throw isSpread
        ? incompleteInPartitions(failures, refusals, count)
        : incomplete(failures, count - failures.length, count);
    }
    if (refusals.length > 0) throw refused(refusals, count);
    return results;
  }

  /** Writes many offers, and returns the outcome of each. */
  async writeEach(offers: readonly Offer[]): Promise<WriteOutcome[]> {
    const { router } = this.queue;
    if (router.stores.length === 1 && offers.length > 0) return this.#writeList(router.route(offers[0]!), offers);
    const outcomes: WriteOutcome[] = [];
    const writes = [...byDestination(router, offers)].map(async ([destination, own]) => {
      const written = await this.#writeList(
        destination,
        own.map((place) => offers[place]!),
      );
      for (const [i, place] of own.entries()) outcomes[place] = named(written[i]!, offers[place]!);
    });
    await Promise.all(writes);
    return outcomes;
  }

  /** Writes one offer in its own call. Returns undefined if it was rejected as a duplicate. Throws other errors, as {@link write} does. */
  async writeAlone(offer: Offer): Promise<OfferResult | undefined> {
    const [outcome] = await this.#offer(this.queue.router.route(offer), [offer]);
    if (outcome instanceof WriteFailure) throw outcome.error;
    return outcome!.outcome === 'rejected' ? undefined : this.#result(offer, outcome!);
  }

  #newBatcher(destination: Destination): TurnBatcher<EncodedOffer> {
    return new TurnBatcher<EncodedOffer>({
      send: (batch) => void this.#send(destination, batch),
      ...BATCH,
      isIdle: () => this.context.callsUnderWay === 0,
    });
  }

  async #send(destination: Destination, batch: readonly EncodedOffer[]): Promise<void> {
    const { queue, context } = this;
    let outcomes: readonly WriteOutcome[];
    context.callsUnderWay++;
    try {
      outcomes = await this.#offer(destination, batch);
    } catch (error) {
      for (const { id, reject } of batch) reject!(withMessageId(error, id));
      return;
    } finally {
      context.callsUnderWay--;
      queue.pendingOffers -= batch.length;
    }
    for (let i = 0; i < batch.length; i++) {
      const offer = batch[i]!;
      const outcome = outcomes[i]!;
      try {
        if (outcome instanceof WriteFailure) throw outcome.error;
        offer.resolve!(this.#result(offer, outcome));
      } catch (error) {
        offer.reject!(withMessageId(error, offer.id));
      }
    }
  }

  /**
   * Sends offers to their destination, or to a new one if the partitions have changed. Sends the queue's registration before the offers,
   * and acknowledges them only once the queue is registered.
   */
  async #offer(destination: Destination, offers: readonly Offer[]): Promise<readonly WriteOutcome[]> {
    const { name, router } = this.queue;
    const registered = this.context.registrar.register(name);
    let outcomes: readonly WriteOutcome[] | undefined;
    let refusal: Repartitioned | undefined;
    try {
      if (router.route(offers[0]!) === destination) outcomes = await destination.offer(offers);
    } catch (error) {
      if (!(error instanceof Repartitioned) || !router.changes) throw error;
      refusal = error;
    }
    outcomes ??= await router.changes!.offerAgain(destination, offers, refusal);
    if (registered) await registered;
    return outcomes;
  }

  /** Sends a list to one destination in batches, in order, several at a time. After a failure, sends no further batches. */
  async #writeList(destination: Destination, offers: readonly Offer[]): Promise<WriteOutcome[]> {
    const batches = [...inBatches(offers, BATCH)];
    const outcomes: (readonly WriteOutcome[])[] = [];
    const failures: WriteFailure[] = [];
    let next = 0;
    const sendOn = async () => {
      while (next < batches.length && failures.length === 0) {
        const at = next++;
        try {
          outcomes[at] = await this.#offer(destination, batches[at]!);
          failures.push(...outcomes[at].filter((outcome) => outcome instanceof WriteFailure));
        } catch (error) {
          const failure = new WriteFailure(error);
          failures.push(failure);
          outcomes[at] = batches[at]!.map(() => failure);
        }
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT_BATCHES }, sendOn));
    return batches.map((batch, at) => outcomes[at] ?? batch.map(() => failures[0]!)).flat();
  }

  /**
   * Converts the receipt of an offer to the result that its caller gets.
   * @throws DelayQueueError `DUPLICATE_MESSAGE`, `QUEUE_FULL`, `PAYLOAD_TOO_LARGE`, `NOT_REPLICATED`
   */
  #result({ id, body, onDuplicate }: Offer, { outcome, dueAt, notCopied }: OfferReceipt): OfferResult {
    const { name, options } = this.queue;
    if (outcome === 'rejected') throw duplicate(name, id);
    if (outcome === 'handled' && onDuplicate === 'reject') throw alreadyHandled(name, id, new Date(dueAt));
    if (outcome === 'full') {
      const problem = `Queue '${name}' is full (maxMessages ${options.maxMessages}): message '${id}' was not accepted`;
      throw new DelayQueueError('QUEUE_FULL', problem, { messageId: id });
    }
    if (outcome === 'oversized') {
      throw new DelayQueueError('PAYLOAD_TOO_LARGE', oversized(body), { messageId: id });
    }
    if (notCopied) throw withMessageId(notCopied, id);
    if (outcome === 'kept' && onDuplicate !== 'repeat') this.context.advice.onKept(name, id);
    const result = { id, dueAt: new Date(dueAt), created: outcome === 'created' };
    if (outcome === 'handled') return { ...result, handledAt: new Date(dueAt) };
    return outcome === 'followed' ? { ...result, follows: true } : result;
  }
}

export function duplicate(queue: string, id: string): DelayQueueError {
  const problem = `Queue '${queue}' already has a message '${id}'`;
  return new DelayQueueError('DUPLICATE_MESSAGE', problem, { messageId: id });
}

function alreadyHandled(queue: string, id: string, at: Date): DelayQueueError {
  const problem = `Queue '${queue}' has already handled a message '${id}', at ${at.toISOString()}`;
  return new DelayQueueError('DUPLICATE_MESSAGE', problem, { messageId: id });
}

/** Groups the indexes of a list by the destination of their offers. */
function byDestination(router: Router, offers: readonly Offer[]): Map<Destination, number[]> {
  const places = new Map<Destination, number[]>();
  for (const [place, offer] of offers.entries()) {
    const destination = router.route(offer);
    const own = places.get(destination);
    if (own) own.push(place);
    else places.set(destination, [place]);
  }
  return places;
}

/** Adds the message's id to a failure, because a destination's failure applies to every offer sent there. */
function named(outcome: WriteOutcome, { id }: Offer): WriteOutcome {
  return outcome instanceof WriteFailure ? new WriteFailure(withMessageId(outcome.error, id)) : outcome;
}

/** A call has one deadline for all of its offers. Most have none. */
function haveSameDeadline(one: Offer, other: Offer): boolean {
  return one.notAfter === other.notAfter;
}

function bodyLength({ body }: Offer): number {
  return body.length;
}
