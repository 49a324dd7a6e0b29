import type { Queue } from '../runtime/queues.js';
import type { Offer } from '../store/message-intake.js';
import type { OfferResult } from './offer.js';
import { OfferRoute } from './offer-route.js';
import { OfferWriter, type Writer, type WriterContext } from './offer-writer.js';
import { StickyIds } from './sticky-ids.js';
import {
  incompleteInPartitions,
  refused,
  resultOf,
  sortOutcomes,
  withId,
  WriteFailure,
  type WriteOutcome,
} from './write-outcome.js';

/** Offers of a list that belong to one partition, and their places in the list. */
interface Group {
  readonly offers: Offer[];
  readonly places: number[];
}

/** Writes the offers of a queue with several partitions: each with the writer of the partition that its id belongs to. */
export class PartitionedWriter implements Writer {
  readonly #partitioning: Queue['partitions']['partitioning'];
  readonly #ids: StickyIds;

  constructor(
    readonly queue: Queue,
    private readonly context: WriterContext,
  ) {
    this.#partitioning = queue.partitions.partitioning;
    this.#ids = stickyIdsFor(this.#partitioning.count, context);
  }

  get isCurrent(): boolean {
    return this.queue.partitions.partitioning === this.#partitioning;
  }

  newId(): string {
    return this.#ids.next(this.queue.partitions);
  }

  write(offer: Offer): Promise<OfferResult> {
    return this.#writerOf(this.#ids.partitionOf(offer.id)).write(offer);
  }

  async writeMany(offers: readonly Offer[]): Promise<OfferResult[]> {
    const outcomes: WriteOutcome[] = [];
    const writes = [...this.#split(offers)].map(async ([partition, { offers: own, places }]) => {
      const written = await this.#writerOf(partition).writeEach(own);
      for (const [i, outcome] of written.entries()) outcomes[places[i]!] = named(outcome, own[i]!);
    });
    await Promise.all(writes);
    const { results, refusals, failures } = sortOutcomes(outcomes, (receipt, place) =>
      resultOf(this.queue, this.context, offers[place]!, receipt),
    );
    if (failures.length > 0) throw incompleteInPartitions(failures, refusals, offers.length);
    if (refusals.length > 0) throw refused(refusals, offers.length);
    return results;
  }

  #split(offers: readonly Offer[]): Map<number, Group> {
    const groups = new Map<number, Group>();
    for (const [place, offer] of offers.entries()) {
      const partition = this.#ids.partitionOf(offer.id);
      const group = groups.get(partition) ?? { offers: [], places: [] };
      groups.set(partition, group);
      group.offers.push(offer);
      group.places.push(place);
    }
    return groups;
  }

  #writerOf(partition: number): OfferWriter {
    const route = new OfferRoute(this.queue, partition);
    const busy = this.context.busy.get(route.name);
    return busy?.isCurrent ? busy : new OfferWriter(this.queue, this.context, route);
  }
}

function stickyIdsFor(partitions: number, { stickyIds, ids }: WriterContext): StickyIds {
  let known = stickyIds.get(partitions);
  if (!known) stickyIds.set(partitions, (known = new StickyIds(ids, partitions)));
  return known;
}

/** An error of a partition is about each offer that belongs to it. */
function named(outcome: WriteOutcome, { id }: Offer): WriteOutcome {
  return outcome instanceof WriteFailure ? new WriteFailure(withId(outcome.error, id)) : outcome;
}
