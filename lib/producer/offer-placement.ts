import type { MessageIdGenerator } from '../message/message-id.js';
import type { Offer, OfferReceipt } from '../store/producer-store.js';
import { type Partitioning, placesOf } from '../store/partitioned/partitioning.js';
import { MOST_ROUNDS, type Partitions, Repartitioned, restless } from '../store/partitioned/partitions.js';
import { StickyIds } from './sticky-ids.js';
import { WriteFailure, type WriteOutcome } from './write-outcome.js';

/** Where the ids of new messages come from: the generator of this process, and what spreads its ids over so many partitions. */
export interface IdSources {
  readonly ids: MessageIdGenerator;
  readonly stickyIds: Map<number, StickyIds>;
}

/** In place of a partition: where all messages are that have groups. */
const OF_GROUPS = -1;

/**
 * Decides where the offers of a queue go: each to the partition that its id belongs to. It is made for one partitioning.
 * If that has changed, or ids may be in use elsewhere, offers are placed anew; later offers to the same partition then wait, so that
 * all stay in order.
 */
export class OfferPlacement {
  readonly #partitioning: Partitioning;
  readonly #newIds: Pick<MessageIdGenerator, 'next'>;
  /** Undefined if there is only one partition. */
  readonly #spread: StickyIds | undefined;
  /** By partition: its offers that are placed anew, until they are answered. */
  readonly #ahead: (Promise<unknown> | undefined)[] = [];

  constructor(
    private readonly partitions: Partitions,
    sources: IdSources,
  ) {
    this.#partitioning = partitions.partitioning;
    this.#newIds = sources.ids;
    this.#spread = this.#partitioning.count === 1 ? undefined : stickyIdsFor(this.#partitioning.count, sources);
  }

  /** Whether the queue still has the partitions for which this was made. */
  get isCurrent(): boolean {
    return this.partitions.partitioning === this.#partitioning;
  }

  get hasOnePartition(): boolean {
    return this.#spread === undefined;
  }

  newId(): string {
    return this.#spread ? this.#spread.next(this.partitions) : this.#newIds.next();
  }

  partitionOf({ id, group }: Offer): number {
    if (group !== undefined) return OF_GROUPS;
    return this.#spread ? this.#spread.partitionOf(id) : 0;
  }

  /** @param partition - where all these offers belong */
  async offer(partition: number, offers: readonly Offer[]): Promise<readonly WriteOutcome[]> {
    if (partition === OF_GROUPS) return this.partitions.groups!.offer(offers);
    if (this.#ahead[partition] || !this.#mayGoStraight(offers)) return this.#placeInTurn(partition, offers);
    try {
      return await this.partitions.stores[partition]!.offer(offers);
    } catch (error) {
      if (!(error instanceof Repartitioned)) throw error;
      await this.partitions.reconcile(partition, error);
    }
    return this.#placeInTurn(partition, offers);
  }

  #mayGoStraight(offers: readonly Offer[]): boolean {
    if (!this.isCurrent || !this.partitions.isReady) return false;
    return this.#partitioning.formers.length === 0 || offers.every(({ isNew }) => isNew);
  }

  #placeInTurn(partition: number, offers: readonly Offer[]): Promise<readonly WriteOutcome[]> {
    const placed = (this.#ahead[partition] ?? Promise.resolve()).then(() => placeOffers(this.partitions, offers));
    const ahead: Promise<void> = placed
      .catch(() => undefined)
      .then(() => {
        if (this.#ahead[partition] === ahead) this.#ahead[partition] = undefined;
      });
    this.#ahead[partition] = ahead;
    return placed;
  }
}

function stickyIdsFor(partitions: number, { ids, stickyIds }: IdSources): StickyIds {
  let known = stickyIds.get(partitions);
  if (!known) stickyIds.set(partitions, (known = new StickyIds(ids, partitions)));
  return known;
}

/** An offer that is placed: asked for at the partitions where its id may be in use, then made at the one where it belongs. */
interface Placed {
  readonly offer: Offer;
  /** Its place in the list of offers. */
  readonly at: number;
  readonly formers: readonly number[];
  readonly last: number;
}

/**
 * Offers messages wherever they belong, by the newest partitioning, and tells what became of each. An id is first
 * offered where it may be in use since the queue had other partitions; such an offer creates nothing. The partitions asked have
 * the partitioning of the caller, or refuse, so nobody who goes by a former one can create the id there afterwards.
 */
export async function placeOffers(partitions: Partitions, offers: readonly Offer[]): Promise<readonly WriteOutcome[]> {
  const outcomes: WriteOutcome[] = [];
  let left = offers.map((offer, at) => ({ offer, at }));
  for (let round = 0; left.length > 0 && round < MOST_ROUNDS; round++) {
    left = await new Round(partitions, outcomes).run(left);
  }
  fail(left, restless(), outcomes);
  return outcomes;
}

/** One attempt to place offers; by one partitioning throughout. */
class Round {
  readonly #refused: Placed[] = [];

  constructor(
    private readonly partitions: Partitions,
    private readonly outcomes: WriteOutcome[],
  ) {}

  /** @returns the offers to place anew, because the partitioning has changed */
  async run(offers: readonly Pick<Placed, 'offer' | 'at'>[]): Promise<Placed[]> {
    const ready = this.partitions.ready();
    if (ready) await ready;
    const { partitioning } = this.partitions;
    let left = offers.map(({ offer, at }): Placed => {
      const [last, ...formers] = placesOf(offer.id, partitioning);
      return { offer, at, formers: offer.isNew ? [] : formers, last: last! };
    });
    while (left.length > 0) {
      // A store sends the partitioning that is known when it is called, and these offers go by another one.
      if (this.partitions.partitioning !== partitioning) return [...this.#refused, ...left];
      left = (await Promise.all(byNextCall(left).map((together) => this.#offer(together)))).flat();
    }
    return this.#refused;
  }

  /** @returns the offers whose ids are not in use in the former partition that was asked */
  async #offer(together: readonly Placed[]): Promise<Placed[]> {
    const { partitions, outcomes } = this;
    const { formers, last } = together[0]!;
    const [partition = last] = formers;
    const offers = together.map(({ offer }) => offer);
    let receipts: readonly (OfferReceipt | undefined)[];
    try {
      receipts = await (formers.length === 0
        ? partitions.stores[partition]!.offer(offers)
        : partitions.offerIfPresent(partition, offers));
    } catch (error) {
      if (!(error instanceof Repartitioned)) fail(together, error, outcomes);
      else await this.#refuse(together, partitions.reconcile(partition, error));
      return [];
    }
    return together.flatMap((placed, i) => {
      const receipt = receipts[i];
      if (!receipt) return [{ ...placed, formers: placed.formers.slice(1) }];
      outcomes[placed.at] = receipt;
      return [];
    });
  }

  async #refuse(together: readonly Placed[], reconciled: Promise<void>): Promise<void> {
    try {
      await reconciled;
      this.#refused.push(...together);
    } catch (error) {
      fail(together, error, this.outcomes);
    }
  }
}

/** Groups offers whose next call goes to the same partition for the same purpose, in their order. */
function byNextCall(offers: readonly Placed[]): Placed[][] {
  const calls = new Map<string, Placed[]>();
  for (const placed of offers) {
    const call = placed.formers.length === 0 ? `offer ${placed.last}` : `ask ${placed.formers[0]}`;
    const together = calls.get(call);
    if (together) together.push(placed);
    else calls.set(call, [placed]);
  }
  return [...calls.values()];
}

function fail(offers: readonly Pick<Placed, 'at'>[], error: unknown, outcomes: WriteOutcome[]): void {
  for (const { at } of offers) outcomes[at] = new WriteFailure(error);
}
