import type { Queue } from '../runtime/queues.js';
import type { Offer } from '../store/message-intake.js';
import { type Partitions, Repartitioned } from '../store/partitioned/partitions.js';
import { placeOffers } from './place-offers.js';
import type { WriteOutcome } from './write-outcome.js';

/**
 * The way of a writer's offers to their partition. If the partitions have changed since the writer was created, or the ids may be
 * in use elsewhere, they are placed anew; then later offers wait, so that all stay in order.
 */
export class OfferRoute {
  /** Differs from those of all other queues and partitions. */
  readonly name: string;
  readonly #partitions: Partitions;
  readonly #partitioning: Partitions['partitioning'];
  /** Offers that are placed anew, until they are answered. */
  #ahead: Promise<unknown> | undefined;

  /** @param partition - where all offers belong; default: the only one that there is */
  constructor(
    { name, partitions }: Pick<Queue, 'name' | 'partitions'>,
    private readonly partition?: number,
  ) {
    // No queue has a name with this character.
    this.name = partition === undefined ? name : `${name}#${partition}`;
    this.#partitions = partitions;
    this.#partitioning = partitions.partitioning;
  }

  /** Whether the partitions are those for which this route was made. */
  get isCurrent(): boolean {
    return this.#partitions.partitioning === this.#partitioning;
  }

  async offer(offers: readonly Offer[]): Promise<readonly WriteOutcome[]> {
    if (this.#ahead || !this.#leadsTo(offers)) return this.#placeInTurn(offers);
    const partition = this.partition ?? 0;
    try {
      return await this.#partitions.stores[partition]!.offer(offers);
    } catch (error) {
      if (!(error instanceof Repartitioned)) throw error;
      await this.#partitions.reconcile(partition, error);
    }
    return this.#placeInTurn(offers);
  }

  /** Whether these offers may go straight to the partition. */
  #leadsTo(offers: readonly Offer[]): boolean {
    if (!this.isCurrent || this.#partitions.ready()) return false;
    return this.#partitioning.formers.length === 0 || offers.every(({ isNew }) => isNew);
  }

  #placeInTurn(offers: readonly Offer[]): Promise<readonly WriteOutcome[]> {
    const placed = (this.#ahead ?? Promise.resolve()).then(() => placeOffers(this.#partitions, offers));
    const ahead: Promise<void> = placed
      .catch(() => undefined)
      .then(() => {
        if (this.#ahead === ahead) this.#ahead = undefined;
      });
    this.#ahead = ahead;
    return placed;
  }
}
