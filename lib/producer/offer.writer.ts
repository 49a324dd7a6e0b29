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
    const { maxPayloadBytes } = this.queue.options;
    const bytes = byteLength(body);
    if (bytes > maxPayloadBytes) {
      throw new DelayQueueError(
        'PAYLOAD_TOO_LARGE',
        `The payload and headers take ${bytes} bytes, over the ${maxPayloadBytes} of maxPayloadBytes: ` +
          'offer a reference to the data instead, or raise the limit',
      );
    }
    return { id, due, onDuplicate, body };
  }

  async write(offer: Offer): Promise<OfferResult> {
    return this.#result(offer, await this.#batcher.add(offer));
  }

  /** Writes many; those that are refused do not hold up the others, and are told of in one error. */
  async writeMany(offers: readonly Offer[]): Promise<OfferResult[]> {
    const results: OfferResult[] = [];
    const refusals: DelayQueueError[] = [];
    for (const batch of inBatches(offers, MAX_BATCH_BYTES, offerBytes)) {
      const receipts = await this.queue.store.offer(batch);
      receipts.forEach((receipt, i) => {
        try {
          results.push(this.#result(batch[i] as Offer, receipt));
        } catch (error) {
          refusals.push(error as DelayQueueError);
        }
      });
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

  #result({ id }: Offer, { outcome, dueAt }: OfferReceipt): OfferResult {
    if (outcome === 'rejected') {
      throw new DelayQueueError('DUPLICATE_MESSAGE', `Queue '${this.queue.name}' has a message '${id}' already`);
    }
    if (outcome === 'full') {
      throw new DelayQueueError(
        'QUEUE_FULL',
        `Queue '${this.queue.name}' holds its maxMessages of ${this.queue.options.maxMessages}: message '${id}' was not taken in`,
      );
    }
    return { id, dueAt: new Date(dueAt), created: outcome === 'created' };
  }
}

function byteLength(body: MessageBody): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.length;
}

function offerBytes({ body }: Offer): number {
  return body.length;
}
