import { describe, expect, it } from '@jest/globals';
import { partitionOf } from '../../lib/message/partition-of.js';
import { resolveQueueOptions } from '../../lib/options/resolve-options.js';
import { FixedPartitions } from '../../lib/partitions/fixed-partitions.js';
import { PartitionRouter, stickyIds } from '../../lib/partitions/partition-router.js';
import type { Partitioning } from '../../lib/partitions/partitioning.js';
import { Place, placeOffers } from '../../lib/partitions/place-offers.js';
import { MemoryMessageStore } from '../../lib/store/memory/memory-store.js';
import type { Offer } from '../../lib/store/producer-store.js';
import { ManualClock } from '../support/manual-clock.js';

const offerOf = (id: string): Offer => ({ id, due: { after: 1000 }, onDuplicate: 'keep', body: 'J1' });

/** Partitions that change while their former places are asked, but not at the moment of any call. */
class ChangingPartitions extends FixedPartitions {
  override partitioning: Partitioning = { epoch: 2, count: 4, formers: [2] };
  readonly asked: number[] = [];

  constructor() {
    const limits = resolveQueueOptions();
    super(Array.from({ length: 16 }, () => new MemoryMessageStore({ limits, clock: new ManualClock() })));
  }

  change(): void {
    this.partitioning = { epoch: 3, count: 16, formers: [4, 2] };
  }

  override offerIfPresent(partition?: number, offers?: readonly Offer[]): Promise<never> {
    this.asked.push(partition!);
    if (this.partitioning.epoch === 2) this.change();
    return Promise.resolve(offers!.map(() => undefined)) as Promise<never>;
  }
}

describe('messages of a queue whose partitions change between two calls', () => {
  const id = Array.from({ length: 1000 }, (_, i) => `m${i}`).find(
    (each) => new Set([2, 4, 16].map((count) => partitionOf(each, count))).size === 3,
  )!;

  it('are placed again under the new partitioning', async () => {
    const partitions = new ChangingPartitions();
    await placeOffers(partitions, [offerOf(id)]);
    expect(partitions.asked).toEqual([2, 4, 2].map((count) => partitionOf(id, count)));
    const found = await Promise.all(partitions.stores.map((store) => store.find(id)));
    expect(found.findIndex(Boolean)).toBe(partitionOf(id, 16));
  });

  it('are looked up again under the new partitioning', async () => {
    const partitions = new ChangingPartitions();
    await partitions.stores[partitionOf(id, 16)]!.offer([offerOf(id)]);
    const ask = async (store: (typeof partitions.stores)[number]) => {
      const found = await store.find(id);
      if (partitions.partitioning.epoch === 2) partitions.change();
      return found;
    };
    expect(await new PartitionRouter(partitions, stickyIds()).lookUp(id, ask)).toMatchObject({
      id,
    });
  });
});

describe('offers to a queue that used to have other partitions', () => {
  it('are stored in order, even if only some of them need a lookup in a former partition', async () => {
    const clock = new ManualClock();
    const limits = resolveQueueOptions();
    const partitions = new (class extends FixedPartitions {
      override partitioning: Partitioning = { epoch: 2, count: 4, formers: [2] };
      override async offerIfPresent(_partition?: number, offers?: readonly Offer[]): Promise<never> {
        await clock.sleep(100);
        return offers!.map(() => undefined) as unknown as never;
      }
    })(Array.from({ length: 4 }, () => new MemoryMessageStore({ limits, clock })));
    const [known, ...fresh] = Array.from({ length: 1000 }, (_, i) => `m${i}`).filter(
      (id) => partitionOf(id, 4) === 3 && partitionOf(id, 2) !== 3,
    );
    const reached: string[] = [];
    const store = partitions.stores[3]!;
    const offer = store.offer.bind(store);
    store.offer = (offers) => {
      reached.push(...offers.map(({ id }) => id));
      return offer(offers);
    };
    const place = new Place(partitions, 3);
    const newOffer = (id: string) => place.offer([{ ...offerOf(id), isNew: true }]);

    const placed = [place.offer([offerOf(known!)]), newOffer(fresh[0]!)];
    await clock.advance(50);
    placed.push(newOffer(fresh[1]!));
    await clock.advance(200);
    await Promise.all(placed);
    await newOffer(fresh[2]!);
    expect(reached).toEqual([known, ...fresh.slice(0, 3)]);
  });
});
