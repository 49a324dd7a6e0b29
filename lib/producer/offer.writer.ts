import { DelayQueueError } from '../delay-queue.errors.js';
import type { MessageIdGenerator } from '../message-id.js';
import type { Queue } from '../queues.js';
import type { DueTime, MessageBody, Offer, OfferReceipt } from '../store/message-store.js';
import { inBatches, TurnBatcher } from '../turn-batcher.js';
import { assertOfferOptions, type OfferOptions, type OfferResult } from './offer.js';

/** Keeps a script call short, whatever the payloads. */
const MAX_BATCH_BYTES = 1024 * 1024;

/** Writes the offers of one queue: checks and encodes them, and sends those of one turn in one call. */
export class OfferWriter {
  readonly #batcher: TurnBatcher<Offer, OfferReceipt>;

  constructor(
    private readonly queue: Queue,
    private readonly ids: MessageIdGenerator,
  ) {
    this.#batcher = new TurnBatcher({
      send: (batch) => queue.store.offer(batch),
      maxWeight: MAX_BATCH_BYTES,
      weigh: offerBytes,
    });
  }

  /**
   * Checks everything about an offer, so that nothing is written when something is wrong.
   *
   * @throws DelayQueueError `INVALID_ARGUMENT`, `INVALID_PAYLOAD`, `PAYLOAD_TOO_LARGE`
   */
  prepare(payload: unknown, due: DueTime, options: OfferOptions): Offer {
    assertOfferOptions(options);
    const { id = this.ids.next(), headers = {}, onDuplicate = 'keep' } = options;
    const body = this.queue.store.codec.encode({ payload, headers });
    // The store refuses it too; this spares the way there.
    if (byteLength(body) > this.queue.options.maxPayloadBytes) throw this.#tooLarge(body);
    return { id, due, onDuplicate, body };
  }

  async write(offer: Offer): Promise<OfferResult> {
    try {
      return this.#result(offer, await this.#batcher.add(offer));
    } catch (error) {
      throw withId(error, offer.id);
    }
  }

  /** Writes many; those that are refused do not hold up the others, and are told of in one error. */
  async writeMany(offers: readonly Offer[]): Promise<OfferResult[]> {
    const results: OfferResult[] = [];
    const refusals: DelayQueueError[] = [];
    for (const batch of inBatches(offers, MAX_BATCH_BYTES, offerBytes)) {
      const receipts = await this.#offerBatch(batch, results.length + refusals.length, offers.length);
      for (const [i, receipt] of receipts.entries()) {
        try {
          results.push(this.#result(batch[i]!, receipt));
        } catch (error) {
          refusals.push(error as DelayQueueError);
        }
      }
    }
    const [first] = refusals;
    if (first) {
      throw new DelayQueueError(
        first.code,
        `${refusals.length} of ${offers.length} offers were refused, the others were accepted. The first: ${first.message}`,
        { cause: new AggregateError(refusals) },
      );
    }
    return results;
  }

  async #offerBatch(batch: readonly Offer[], before: number, all: number): Promise<OfferReceipt[]> {
    try {
      return await this.queue.store.offer(batch);
    } catch (cause) {
      if (before === 0) throw cause;
      throw new DelayQueueError(
        'OUTCOME_UNKNOWN',
        `Only the first ${before} of ${all} offers are known to be written, then: ${(cause as Error).message} ` +
          'Offering all of them again is safe if they have ids of yours.',
        { cause },
      );
    }
  }

  #result({ id, body }: Offer, { outcome, dueAt }: OfferReceipt): OfferResult {
    const { name, options } = this.queue;
    if (outcome === 'rejected') {
      throw new DelayQueueError('DUPLICATE_MESSAGE', `Queue '${name}' has a message '${id}' already`, {
        messageId: id,
      });
    }
    if (outcome === 'full') {
      const problem = `Queue '${name}' holds its maxMessages of ${options.maxMessages}: message '${id}' was not taken in`;
      throw new DelayQueueError('QUEUE_FULL', problem, { messageId: id });
    }
    if (outcome === 'too-large') throw this.#tooLarge(body);
    return { id, dueAt: new Date(dueAt), created: outcome === 'created' };
  }

  #tooLarge(body: MessageBody): DelayQueueError {
    return new DelayQueueError(
      'PAYLOAD_TOO_LARGE',
      `The payload and headers take ${byteLength(body)} bytes, over the ${this.queue.options.maxPayloadBytes} of ` +
        'maxPayloadBytes: offer a reference to the data instead, or raise the limit',
    );
  }
}

/** A batch's error is everybody's; this one is for the message, so that it can be offered again under the same id. */
function withId(error: unknown, messageId: string): unknown {
  if (!(error instanceof DelayQueueError) || error.messageId !== undefined) return error;
  return new DelayQueueError(error.code, `${error.message} (message id '${messageId}')`, { cause: error, messageId });
}

function byteLength(body: MessageBody): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.length;
}

function offerBytes({ body }: Offer): number {
  return body.length;
}
