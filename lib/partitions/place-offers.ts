import { DelayQueueError } from '../message/delay-queue-errors.js';
import type { Offer, OfferReceipt } from '../store/producer-store.js';
import { type Destination, Repartitioned, WriteFailure, type WriteOutcome } from '../store/router.js';
import { type Partitioning, placesOf } from './partitioning.js';
import type { Partitions } from './partitions.js';

/** The maximum number of attempts while the partitioning keeps changing. Far more than are ever needed. */
export const MAX_ROUNDS = 10;

export function unstable(): DelayQueueError {
  return new DelayQueueError('STORE_REFUSED', "The queue's partitions keep changing or disagree; try again later");
}

/**
 * The destination of messages in one partition under one partitioning. Offers whose ids may be in use elsewhere take several calls in
 * sequence. Later offers to the same partition wait for them, which preserves the order.
 */
export class Place implements Destination {
  readonly #partitioning: Partitioning;
  /** The offers being placed in sequence, until they are answered. */
  #ahead: Promise<unknown> | undefined;

  constructor(
    private readonly partitions: Partitions,
    readonly partition: number,
  ) {
    this.#partitioning = partitions.partitioning;
  }

  offer(offers: readonly Offer[]): Promise<readonly WriteOutcome[]> {
    if (this.#ahead || !this.#mayGoStraight(offers)) return this.offerInTurn(offers);
    return this.partitions.stores[this.partition]!.offer(offers);
  }

  #mayGoStraight(offers: readonly Offer[]): boolean {
    if (!this.partitions.isKnown) return false;
    return this.#partitioning.formers.length === 0 || offers.every(({ isNew }) => isNew);
  }

  /** Offers messages to the partitions where they belong, after earlier offers. */
  offerInTurn(offers: readonly Offer[]): Promise<readonly WriteOutcome[]> {
    const placed = (this.#ahead ?? Promise.resolve()).then(() => placeOffers(this.partitions, offers));
    const ahead: Promise<void> = placed
      .catch(() => undefined)
      .then(() => {
        if (this.#ahead === ahead) this.#ahead = undefined;
      });
    this.#ahead = ahead;
    return placed;
  }
}

/** An offer that is first tried in former partitions where its id may be in use, and only then made in `last`, where it belongs. */
interface Placed {
  readonly offer: Offer;
  /** The offer's index in the list. */
  readonly at: number;
  readonly formers: readonly number[];
  readonly last: number;
}

/**
 * Offers each message to the partition where it belongs under the newest partitioning, and returns each offer's outcome. If the number of
 * partitions has changed, an id is first offered to the partitions that may already hold it; those offers create nothing. A partition asked
 * either has the caller's partitioning or refuses the call, so no process with an older one can create the id there afterwards.
 */
export async function placeOffers(partitions: Partitions, offers: readonly Offer[]): Promise<readonly WriteOutcome[]> {
  const outcomes: WriteOutcome[] = [];
  let left = offers.map((offer, at) => ({ offer, at }));
  for (let round = 0; left.length > 0 && round < MAX_ROUNDS; round++) {
    left = await new Round(partitions, outcomes).run(left);
  }
  fail(left, unstable(), outcomes);
  return outcomes;
}

/** One attempt to place offers, under one partitioning throughout. */
class Round {
  readonly #refused: Placed[] = [];

  constructor(
    private readonly partitions: Partitions,
    private readonly outcomes: WriteOutcome[],
  ) {}

  /** Places offers. Returns those to place again, because the partitioning has changed. */
  async run(offers: readonly Pick<Placed, 'offer' | 'at'>[]): Promise<Placed[]> {
    if (!this.partitions.isKnown) await this.partitions.learn();
    const { partitioning } = this.partitions;
    let left = offers.map(({ offer, at }): Placed => {
      const [last, ...formers] = placesOf(offer.id, partitioning);
      return { offer, at, formers: offer.isNew ? [] : formers, last: last! };
    });
    while (left.length > 0) {
      // The partitioning has changed. A store would send the new one, but the destination of these offers was decided by the old one.
      if (this.partitions.partitioning !== partitioning) return [...this.#refused, ...left];
      left = (await Promise.all(byNextCall(left).map((together) => this.#offer(together)))).flat();
    }
    return this.#refused;
  }

  /** Makes the next call for these offers. Returns those whose ids are not in use in the former partition that was asked. */
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

/** Groups offers whose next call goes to the same partition for the same purpose. Keeps their order. */
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
