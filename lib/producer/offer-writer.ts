import type { MessageIdGenerator } from '../message/message-id.js';
import type { Queue } from '../runtime/queues.js';
import type { Offer, OfferReceipt } from '../store/message-intake.js';
import { inBatches, TurnBatcher } from '../timing/turn-batcher.js';
import type { OfferResult } from './offer.js';
import { OfferRoute } from './offer-route.js';
import type { StickyIds } from './sticky-ids.js';
import {
  incomplete,
  refused,
  resultOf,
  sortOutcomes,
  withId,
  WriteFailure,
  type WriteOutcome,
} from './write-outcome.js';

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
  /** For queues with so many partitions. */
  readonly stickyIds: Map<number, StickyIds>;
  /** How many calls of the store are not answered yet. */
  readonly calls: { underWay: number };
  /**
   * The writer of each queue, or partition, that has pending offers: later offers use the same writer, so that all stay in order.
   */
  readonly busy: Map<string, OfferWriter>;
  /**
   * Called before offers to a queue are sent. They are not acknowledged before what it returns, if anything, has resolved; it
   * never rejects.
   */
  readonly register: (queue: string) => Promise<void> | undefined;
  /** Called when an offer was ignored because a message with its id is already there. */
  readonly onKept: (queue: string, id: string) => void;
}

/** Writes the offers of one queue. */
export interface Writer {
  readonly queue: Queue;
  /** Whether the partitions of the queue are still those for which this writer was created. */
  readonly isCurrent: boolean;
  /** Makes an id for a message that is given none. */
  newId(): string;
  /**
   * Writes one offer, together with the others of the same turn.
   *
   * @throws DelayQueueError `DUPLICATE_MESSAGE`, `QUEUE_FULL`, `PAYLOAD_TOO_LARGE`, and what the store throws
   */
  write(offer: Offer): Promise<OfferResult>;
  /** Writes many offers. Refused ones do not hold up the others; one error reports them all. */
  writeMany(offers: readonly Offer[]): Promise<OfferResult[]>;
}

/** Writes the offers of one queue or partition: sends those of one turn in one call. */
export class OfferWriter implements Writer {
  readonly #batcher: TurnBatcher<PendingOffer>;
  /** How many offers are not sent or not answered yet. */
  #pending = 0;

  constructor(
    readonly queue: Queue,
    private readonly context: WriterContext,
    private readonly route = new OfferRoute(queue),
  ) {
    this.#batcher = new TurnBatcher({
      send: (batch) => void this.#send(batch),
      ...BATCH,
      weigh: ({ offer }) => offerBytes(offer),
      isIdle: () => this.context.calls.underWay === 0,
    });
  }

  get isCurrent(): boolean {
    return this.route.isCurrent;
  }

  newId(): string {
    return this.context.ids.next();
  }

  write(offer: Offer): Promise<OfferResult> {
    this.#begin(1);
    return new Promise((resolve, reject) => this.#batcher.add({ offer, resolve, reject }));
  }

  async writeMany(offers: readonly Offer[]): Promise<OfferResult[]> {
    const { results, refusals, failures } = sortOutcomes(await this.writeEach(offers), (receipt, i) =>
      this.#result(offers[i]!, receipt),
    );
    if (failures.length > 0) throw incomplete(failures, offers.length - failures.length, offers.length);
    if (refusals.length > 0) throw refused(refusals, offers.length);
    return results;
  }

  /** Writes many offers, and tells what became of each. */
  async writeEach(offers: readonly Offer[]): Promise<WriteOutcome[]> {
    this.#begin(offers.length);
    return this.#offerAll(offers).finally(() => this.#end(offers.length));
  }

  #begin(offers: number): void {
    if (this.#pending === 0) this.context.busy.set(this.route.name, this);
    this.#pending += offers;
  }

  #end(offers: number): void {
    this.#pending -= offers;
    const { busy } = this.context;
    if (this.#pending === 0 && busy.get(this.route.name) === this) busy.delete(this.route.name);
  }

  async #send(batch: readonly PendingOffer[]): Promise<void> {
    let outcomes: readonly WriteOutcome[];
    this.context.calls.underWay++;
    try {
      outcomes = await this.#offer(batch.map(({ offer }) => offer));
    } catch (error) {
      for (const { offer, reject } of batch) reject(withId(error, offer.id));
      return;
    } finally {
      this.context.calls.underWay--;
      this.#end(batch.length);
    }
    for (const [i, { offer, resolve, reject }] of batch.entries()) {
      const outcome = outcomes[i]!;
      try {
        if (outcome instanceof WriteFailure) throw outcome.error;
        resolve(this.#result(offer, outcome));
      } catch (error) {
        reject(withId(error, offer.id));
      }
    }
  }

  async #offer(offers: readonly Offer[]): Promise<readonly WriteOutcome[]> {
    const registered = this.context.register(this.queue.name);
    const outcomes = await this.route.offer(offers);
    if (registered) await registered;
    return outcomes;
  }

  /** Sends a list in batches, in order; once one has failed, no more are sent. */
  async #offerAll(offers: readonly Offer[]): Promise<WriteOutcome[]> {
    const batches = [...inBatches(offers, { ...BATCH, weigh: offerBytes })];
    const outcomes: (readonly WriteOutcome[])[] = [];
    const failures: WriteFailure[] = [];
    let next = 0;
    const sendOn = async () => {
      while (next < batches.length && failures.length === 0) {
        const at = next++;
        try {
          outcomes[at] = await this.#offer(batches[at]!);
          failures.push(...outcomes[at].filter((outcome) => outcome instanceof WriteFailure));
        } catch (error) {
          const failure = new WriteFailure(error);
          failures.push(failure);
          outcomes[at] = batches[at]!.map(() => failure);
        }
      }
    };
    await Promise.all(Array.from({ length: LANES }, sendOn));
    return batches.map((batch, at) => outcomes[at] ?? batch.map(() => failures[0]!)).flat();
  }

  #result(offer: Offer, receipt: OfferReceipt): OfferResult {
    return resultOf(this.queue, this.context, offer, receipt);
  }
}

function offerBytes({ body }: Offer): number {
  return body.length;
}
