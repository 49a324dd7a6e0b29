import { DelayQueueError } from '../message/delay-queue.errors.js';
import { hasCode } from '../message/failure.js';
import type { MessageIdGenerator } from '../message/message-id.js';
import { NO_TYPE } from '../message/message-type.js';
import type { Queue } from '../runtime/queues.js';
import { type BodyRules, encodeBody } from '../codec/encode-body.js';
import type { DueTime, Offer, OfferReceipt } from '../store/message-intake.js';
import { inBatches, TurnBatcher } from '../timing/turn-batcher.js';
import type { OfferOptions, OfferResult } from './offer.js';

/**
 * The limits of one call. They keep a script short whatever the payloads, and let the server process one batch of a list
 * while the next is being encoded.
 */
const BATCH = { maxItems: 250, maxWeight: 1024 * 1024 };

/** How many batches of one list are under way at once. */
const LANES = 4;

interface PendingOffer {
  readonly offer: Offer;
  readonly resolve: (result: OfferResult) => void;
  readonly reject: (error: unknown) => void;
}

/** What the writers of a producer share. */
export interface WriterContext {
  readonly ids: MessageIdGenerator;
  /** The writer of each queue that has pending offers: later offers use the same writer, so that all stay in order. */
  readonly busy: Map<string, OfferWriter>;
  /**
   * Called before offers to a queue are sent. They are not acknowledged before what it returns, if anything, has resolved; it
   * never rejects.
   */
  readonly register: (queue: string) => Promise<void> | undefined;
  /** Called when an offer was ignored because a message with its id is already there. */
  readonly onKept: (queue: string, id: string) => void;
}

/** Writes the offers of one queue: encodes them, checks their size, and sends those of one turn in one call. */
export class OfferWriter {
  readonly #batcher: TurnBatcher<PendingOffer>;
  readonly #bodyRules: BodyRules;
  /** How many offers are not sent or not answered yet. */
  #pending = 0;
  /** How many calls of the store are not answered yet. */
  #underWay = 0;

  constructor(
    readonly queue: Queue,
    private readonly context: WriterContext,
  ) {
    const { codec, options } = queue;
    this.#bodyRules = { codec, maxPayloadBytes: options.maxPayloadBytes };
    this.#batcher = new TurnBatcher({
      send: (batch) => void this.#send(batch),
      ...BATCH,
      weigh: ({ offer }) => offerBytes(offer),
      isIdle: () => this.#underWay === 0,
    });
  }

  /**
   * Encodes an offer and checks its size before anything is written.
   *
   * @throws DelayQueueError `INVALID_PAYLOAD`, `PAYLOAD_TOO_LARGE`
   */
  prepare(
    payload: unknown,
    due: DueTime,
    { type = NO_TYPE, id = this.context.ids.next(), headers = {}, onDuplicate = 'keep' }: OfferOptions,
  ): Offer {
    return { id, due, onDuplicate, body: encodeBody(this.#bodyRules, { type, payload, headers }) };
  }

  /**
   * Writes one offer, together with the others of the same turn.
   *
   * @throws DelayQueueError `DUPLICATE_MESSAGE`, `QUEUE_FULL`, and what the store throws
   */
  write(offer: Offer): Promise<OfferResult> {
    this.#begin(1);
    return new Promise((resolve, reject) => this.#batcher.add({ offer, resolve, reject }));
  }

  /** Writes many offers. Refused ones do not hold up the others; one error reports them all. */
  async writeMany(offers: readonly Offer[]): Promise<OfferResult[]> {
    this.#begin(offers.length);
    const receipts = await this.#offerAll(offers).finally(() => this.#end(offers.length));
    const results: OfferResult[] = [];
    const refusals: DelayQueueError[] = [];
    for (const [i, receipt] of receipts.entries()) {
      try {
        results.push(this.#result(offers[i]!, receipt));
      } catch (error) {
        refusals.push(error as DelayQueueError);
      }
    }
    const [first] = refusals;
    if (first) {
      throw new DelayQueueError(
        first.code,
        `${refusals.length} of ${offers.length} offers were refused, the others were accepted. The first error: ${first.message}`,
        { cause: new AggregateError(refusals) },
      );
    }
    return results;
  }

  #begin(offers: number): void {
    if (this.#pending === 0) this.context.busy.set(this.queue.name, this);
    this.#pending += offers;
  }

  #end(offers: number): void {
    this.#pending -= offers;
    if (this.#pending === 0) this.context.busy.delete(this.queue.name);
  }

  async #send(batch: readonly PendingOffer[]): Promise<void> {
    let receipts: OfferReceipt[];
    this.#underWay++;
    try {
      receipts = await this.#offer(batch.map(({ offer }) => offer));
    } catch (error) {
      for (const { offer, reject } of batch) reject(withId(error, offer.id));
      return;
    } finally {
      this.#underWay--;
      this.#end(batch.length);
    }
    for (const [i, { offer, resolve, reject }] of batch.entries()) {
      try {
        resolve(this.#result(offer, receipts[i]!));
      } catch (error) {
        reject(withId(error, offer.id));
      }
    }
  }

  async #offer(offers: readonly Offer[]): Promise<OfferReceipt[]> {
    const registered = this.context.register(this.queue.name);
    const receipts = await this.queue.store.offer(offers);
    if (registered) await registered;
    return receipts;
  }

  /** Sends a list in batches, in order; once one has failed, no more are sent. */
  async #offerAll(offers: readonly Offer[]): Promise<OfferReceipt[]> {
    const batches = [...inBatches(offers, { ...BATCH, weigh: offerBytes })];
    const receipts: OfferReceipt[][] = [];
    const failures: unknown[] = [];
    let next = 0;
    const sendOn = async () => {
      while (next < batches.length && failures.length === 0) {
        const at = next++;
        try {
          receipts[at] = await this.#offer(batches[at]!);
        } catch (error) {
          failures.push(error);
        }
      }
    };
    await Promise.all(Array.from({ length: LANES }, sendOn));
    const written = receipts.flat();
    if (failures.length > 0) throw incomplete(failures, written.length, offers.length);
    return written;
  }

  #result({ id }: Offer, { outcome, dueAt }: OfferReceipt): OfferResult {
    const { name, options } = this.queue;
    if (outcome === 'rejected') {
      throw new DelayQueueError('DUPLICATE_MESSAGE', `Queue '${name}' already has a message '${id}'`, {
        messageId: id,
      });
    }
    if (outcome === 'full') {
      const problem = `Queue '${name}' is full (maxMessages ${options.maxMessages}): message '${id}' was not accepted`;
      throw new DelayQueueError('QUEUE_FULL', problem, { messageId: id });
    }
    if (outcome === 'kept') this.context.onKept(name, id);
    return { id, dueAt: new Date(dueAt), created: outcome === 'created' };
  }
}

/** The error for a list that was not written, or not known to be written completely. */
function incomplete(failures: readonly unknown[], written: number, all: number): unknown {
  const unknown = failures.find((error) => hasCode(error, 'OUTCOME_UNKNOWN'));
  const cause = unknown ?? failures[0];
  if (written === 0) return cause;
  return new DelayQueueError(
    'OUTCOME_UNKNOWN',
    `Only ${written} of ${all} offers are known to be written, then: ${(cause as Error).message} ` +
      'Offering all of them again is safe if you gave them ids.',
    { cause },
  );
}

/** Gives each offer of a failed batch an error of its own, which names the id, so that it can be offered again with the same id. */
function withId(error: unknown, messageId: string): unknown {
  if (!(error instanceof DelayQueueError) || error.messageId !== undefined) return error;
  return new DelayQueueError(error.code, `${error.message} (message id '${messageId}')`, { cause: error, messageId });
}

function offerBytes({ body }: Offer): number {
  return body.length;
}
