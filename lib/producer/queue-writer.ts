import type { BodyRules } from '../message/codec/encode-body.js';
import type { Queue } from '../runtime/queues.js';
import type { Offer, OfferReceipt } from '../store/producer-store.js';
import { inBatches, TurnBatcher } from '../timing/turn-batcher.js';
import type { OfferResult } from './offer.js';
import { type IdSources, OfferPlacement } from './offer-placement.js';
import {
  incomplete,
  incompleteInPartitions,
  refused,
  resultOf,
  sortOutcomes,
  withMessageId,
  WriteFailure,
  type WriteOutcome,
} from './write-outcome.js';

/**
 * The limits of one call. They keep a script short whatever the payloads, and let the server process one batch of a list
 * while the next is being encoded.
 */
const BATCH = { maxItems: 250, maxWeight: 1024 * 1024 };

/** How many batches of one list are under way at once, for each partition. */
const LANES = 4;

interface PendingOffer {
  readonly offer: Offer;
  readonly resolve: (result: OfferResult) => void;
  readonly reject: (error: unknown) => void;
}

/** What the writers of a process share. */
export interface WriterContext extends IdSources {
  /** How many calls of the store are not answered yet. */
  readonly calls: { underWay: number };
  /** The writer of each queue that has pending offers: later offers use the same writer, so that all stay in order. */
  readonly busy: Map<string, QueueWriter>;
  /**
   * Called before offers to a queue are sent. They are not acknowledged before what it returns, if anything, has resolved; it
   * never rejects.
   */
  readonly register: (queue: string) => Promise<void> | undefined;
  /** Called when an offer was ignored because a message with its id is already there. */
  readonly onKept: (queue: string, id: string) => void;
}

/** Writes the offers of one queue: those of one turn that go to the same partition, in one call. */
export class QueueWriter {
  readonly bodyRules: BodyRules;
  #placement: OfferPlacement;
  /** By partition; each is made for its first offer. */
  #batchers = new Map<number, TurnBatcher<PendingOffer>>();
  /** The same for offers that have no effect after an instant: whoever offers without one does not share it. */
  #batchersInTime = new Map<number, TurnBatcher<PendingOffer>>();
  /** How many offers are not sent or not answered yet. */
  #pending = 0;

  constructor(
    readonly queue: Queue,
    private readonly context: WriterContext,
  ) {
    this.bodyRules = { codec: queue.codec, maxPayloadBytes: queue.options.maxPayloadBytes };
    this.#placement = new OfferPlacement(queue.partitions, context);
  }

  /** Makes an id for a message that is given none. */
  newId(): string {
    return this.#currentPlacement().newId();
  }

  /**
   * Writes one offer, together with the others of the same turn.
   *
   * @throws DelayQueueError `DUPLICATE_MESSAGE`, `QUEUE_FULL`, `PAYLOAD_TOO_LARGE`, and what the store throws
   */
  write(offer: Offer): Promise<OfferResult> {
    const partition = this.#currentPlacement().partitionOf(offer);
    const batchers = offer.notAfter === undefined ? this.#batchers : this.#batchersInTime;
    let batcher = batchers.get(partition);
    if (!batcher) batchers.set(partition, (batcher = this.#newBatcher(partition)));
    this.#begin(1);
    return new Promise((resolve, reject) => batcher.add({ offer, resolve, reject }));
  }

  /** Writes many offers. Refused ones do not hold up the others; one error reports them all. */
  async writeMany(offers: readonly Offer[]): Promise<OfferResult[]> {
    const placement = this.#currentPlacement();
    const count = offers.length;
    this.#begin(count);
    const outcomes = await this.#writeEach(placement, offers).finally(() => this.#end(count));
    const { results, refusals, failures } = sortOutcomes(outcomes, (receipt, i) => this.#result(offers[i]!, receipt));
    if (failures.length > 0) {
      throw placement.hasOnePartition
        ? incomplete(failures, count - failures.length, count)
        : incompleteInPartitions(failures, refusals, count);
    }
    if (refusals.length > 0) throw refused(refusals, count);
    return results;
  }

  /** Renewed once the partitions have changed. What was added to the batchers of before still goes by the placement of before. */
  #currentPlacement(): OfferPlacement {
    if (!this.#placement.isCurrent) {
      this.#placement = new OfferPlacement(this.queue.partitions, this.context);
      this.#batchers = new Map();
      this.#batchersInTime = new Map();
    }
    return this.#placement;
  }

  #newBatcher(partition: number): TurnBatcher<PendingOffer> {
    const placement = this.#placement;
    return new TurnBatcher({
      send: (batch) => void this.#send(placement, partition, batch),
      ...BATCH,
      weigh: ({ offer }) => offerBytes(offer),
      isIdle: () => this.context.calls.underWay === 0,
    });
  }

  #begin(offers: number): void {
    if (this.#pending === 0) this.context.busy.set(this.queue.name, this);
    this.#pending += offers;
  }

  #end(offers: number): void {
    this.#pending -= offers;
    const { busy } = this.context;
    if (this.#pending === 0 && busy.get(this.queue.name) === this) busy.delete(this.queue.name);
  }

  async #send(placement: OfferPlacement, partition: number, batch: readonly PendingOffer[]): Promise<void> {
    let outcomes: readonly WriteOutcome[];
    this.context.calls.underWay++;
    try {
      const offers = batch.map(({ offer }) => offer);
      outcomes = await this.#offer(placement, partition, offers);
    } catch (error) {
      for (const { offer, reject } of batch) reject(withMessageId(error, offer.id));
      return;
    } finally {
      this.context.calls.underWay--;
      this.#end(batch.length);
    }
    for (let i = 0; i < batch.length; i++) {
      const { offer, resolve, reject } = batch[i]!;
      const outcome = outcomes[i]!;
      try {
        if (outcome instanceof WriteFailure) throw outcome.error;
        resolve(this.#result(offer, outcome));
      } catch (error) {
        reject(withMessageId(error, offer.id));
      }
    }
  }

  async #offer(
    placement: OfferPlacement,
    partition: number,
    offers: readonly Offer[],
  ): Promise<readonly WriteOutcome[]> {
    const registered = this.context.register(this.queue.name);
    const outcomes = await placement.offer(partition, offers);
    if (registered) await registered;
    return outcomes;
  }

  async #writeEach(placement: OfferPlacement, offers: readonly Offer[]): Promise<WriteOutcome[]> {
    if (placement.hasOnePartition && !offers.some(({ group }) => group !== undefined)) {
      return this.#writeList(placement, 0, offers);
    }
    const outcomes: WriteOutcome[] = [];
    const writes = [...byPartition(placement, offers)].map(async ([partition, places]) => {
      const own = places.map((place) => offers[place]!);
      const written = await this.#writeList(placement, partition, own);
      for (const [i, outcome] of written.entries()) outcomes[places[i]!] = named(outcome, own[i]!);
    });
    await Promise.all(writes);
    return outcomes;
  }

  /** Sends a list to one partition in batches, in order; once one has failed, no more are sent. */
  async #writeList(placement: OfferPlacement, partition: number, offers: readonly Offer[]): Promise<WriteOutcome[]> {
    const batches = [...inBatches(offers, { ...BATCH, weigh: offerBytes })];
    const outcomes: (readonly WriteOutcome[])[] = [];
    const failures: WriteFailure[] = [];
    let next = 0;
    const sendOn = async () => {
      while (next < batches.length && failures.length === 0) {
        const at = next++;
        try {
          outcomes[at] = await this.#offer(placement, partition, batches[at]!);
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

/** The places in a list of the offers that belong to each partition. */
function byPartition(placement: OfferPlacement, offers: readonly Offer[]): Map<number, number[]> {
  const places = new Map<number, number[]>();
  for (const [place, offer] of offers.entries()) {
    const partition = placement.partitionOf(offer);
    const own = places.get(partition);
    if (own) own.push(place);
    else places.set(partition, [place]);
  }
  return places;
}

/** An error of a partition is about each offer that belongs to it. */
function named(outcome: WriteOutcome, { id }: Offer): WriteOutcome {
  return outcome instanceof WriteFailure ? new WriteFailure(withMessageId(outcome.error, id)) : outcome;
}

function offerBytes({ body }: Offer): number {
  return body.length;
}
