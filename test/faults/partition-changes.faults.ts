import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { resolveQueueOptions } from '../../lib/options/resolve-options.js';
import { NativePartitions } from '../../lib/partitions/native-partitions.js';
import { PartitionRouter, stickyIds } from '../../lib/partitions/partition-router.js';
import { formatPartitioning, placesOf } from '../../lib/partitions/partitioning.js';
import { placeOffers } from '../../lib/partitions/place-offers.js';
import { limitsOfPartition } from '../../lib/runtime/open-queue.js';
import type { Offer } from '../../lib/store/producer-store.js';
import { nativeKeys } from '../../lib/store/native/native-keys.js';
import { NativeMessageStore } from '../../lib/store/native/native-store.js';
import { Repartitioned, WriteFailure, type WriteOutcome } from '../../lib/store/router.js';
import { WholeQueue } from '../../lib/store/whole-queue.js';
import { RedisConnections } from '../../lib/redis/redis-connections.js';
import { systemClock } from '../../lib/timing/clock.js';
import { LoggedEvents } from '../support/logged-events.js';
import { Scene } from '../support/scene.js';

const HOUR = 3_600_000;
const ids = (count: number, prefix = 'm') => Array.from({ length: count }, (_, i) => `${prefix}${i}`);
const offersOf = (all: readonly string[], more: Partial<Offer> = {}) =>
  all.map((id): Offer => ({ id, due: { after: HOUR }, onDuplicate: 'reject', body: 'J1', ...more }));
/** Lets some turns of the event loop pass. */
async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}
const routerOf = (partitions: NativePartitions) => new PartitionRouter(partitions, stickyIds());
const outcomeOf = (outcome: WriteOutcome) => (outcome instanceof WriteFailure ? 'failed' : outcome.outcome);

describe('changing the partitions of a queue', () => {
  const scene = new Scene();
  const processes: RedisConnections[] = [];

  beforeAll(() => {
    for (let i = 0; i < 3; i++) {
      processes.push(
        new RedisConnections({
          connection: scene.url,
          clock: systemClock,
          events: new LoggedEvents(),
          commandTimeout: 5000,
          heartbeat: 5000,
        }),
      );
    }
  });
  afterAll(() => Promise.all(processes.map((process) => process.close())));

  /** The partitions of a queue as one of several processes knows them. */
  function open(queue: string, configured: number, process = 0): NativePartitions {
    const options = resolveQueueOptions({ partitions: configured });
    const limitsOf = (count: number) => limitsOfPartition(options, count);
    const { prefix } = scene;
    return new NativePartitions(processes[process]!, { prefix, queue, partitions: configured, limitsOf });
  }

  const find = (partitions: NativePartitions, id: string) => routerOf(partitions).lookUp(id, (store) => store.find(id));
  const cancel = (partitions: NativePartitions, id: string) =>
    routerOf(partitions).lookUp(id, (store) => store.cancel(id));
  const count = async (partitions: NativePartitions) =>
    (await new WholeQueue(routerOf(partitions)).status()).counts.delayed;
  const setPartitioning = (queue: string, partition: number, partitioning: string) =>
    scene.redis.set(nativeKeys(scene.prefix, queue, partition).partitions, partitioning);

  /** A process that has agreed, with messages in the queue. */
  async function openFull(count: number, messages: readonly string[] = ids(30)) {
    const queue = scene.newQueue();
    const partitions = open(queue, count);
    await partitions.agree();
    await placeOffers(partitions, offersOf(messages));
    return { queue, partitions };
  }

  it('makes the store reject the calls of a process that knows only the former partitioning', async () => {
    const { queue, partitions } = await openFull(4);
    const stale = formatPartitioning(partitions.partitioning);
    const limits = limitsOfPartition(resolveQueueOptions());
    await open(queue, 8, 1).agree();
    for (let partition = 0; partition < 4; partition++) {
      const keys = nativeKeys(scene.prefix, queue, partition);
      const paused = new NativeMessageStore(processes[2]!, { keys, limits, partitioning: { text: stale } });
      const calls = [
        () => paused.offer(offersOf(['new'])),
        () => paused.find('new'),
        () => paused.cancel('new'),
        () => paused.reschedule('new', { after: 0 }),
        () => paused.redrive({ id: 'new' }),
        () => paused.discard({ id: 'new' }),
      ];
      for (const call of calls) await expect(call()).rejects.toBeInstanceOf(Repartitioned);
      expect(await scene.redis.hexists(keys.messages, 'new')).toBe(0);
    }
  });

  it('never leads to two messages with one id, even if writers that disagree about the partitions offer it during the change', async () => {
    for (let round = 0; round < 200; round++) {
      const { queue, partitions: old } = await openFull(1 + (round % 4), []);
      const other = open(queue, 1 + (round % 4), 1);
      await other.agree();
      const grower = open(queue, 8, 2);
      const all = ids(8);
      const grown = grower.agree();
      const writers = [old, other, grower];
      // The change begins before all writers, and each writer begins at a moment of its own.
      const outcomes = await Promise.all(
        writers.map(async (writer, i) => {
          if (writer === grower) await grown;
          await turns(((round >> 2) * (i + 1) * 7) % 23);
          return placeOffers(writer, offersOf(all));
        }),
      );
      const created = all.map((_, i) => outcomes.map((each) => outcomeOf(each[i]!)).sort());
      expect([round, created]).toEqual([round, all.map(() => ['created', 'rejected', 'rejected'])]);
      expect([round, await count(old)]).toEqual([round, all.length]);
    }
  });

  it('keeps each message in one of its possible partitions, where any process finds and cancels it', async () => {
    const { queue, partitions: stale } = await openFull(2);
    const staler = open(queue, 1, 1);
    for (const number of [4, 8, 16]) {
      const grown = open(queue, number, 2);
      await grown.agree();
      await placeOffers(grown, offersOf(ids(20, `at${number}-`)));
      await placeOffers(grown, offersOf(ids(20, `new${number}-`), { isNew: true }));
      const known = [...ids(30), ...ids(20, `at${number}-`), ...ids(20, `new${number}-`)];
      for (const id of known) {
        const held = await Promise.all(
          grown.stores.map((_, at) => scene.redis.hexists(nativeKeys(scene.prefix, queue, at).messages, id)),
        );
        expect(held.reduce((sum, one) => sum + one)).toBe(1);
        expect(placesOf(id, grown.partitioning)).toContain(held.indexOf(1));
      }
      expect(await find(stale, `new${number}-3`)).not.toBeNull();
      expect(await cancel(staler, `at${number}-3`)).toBe(true);
      expect(await cancel(stale, `at${number}-3`)).toBe(false);
    }
    expect(await find(stale, 'none')).toBeNull();
  });

  it.each([
    ['only the first partition', []],
    ['half of the partitions', [1, 3, 5]],
    ['all partitions', [1, 2, 3, 4, 5, 6, 7]],
  ])('can be completed if the process that changed them died after it had updated %s', async (_who, reported) => {
    const { queue, partitions: old } = await openFull(4);
    const { epoch } = old.partitioning;
    for (const partition of [0, ...reported]) await setPartitioning(queue, partition, `${epoch + 1} 8 4`);
    const stranger = open(queue, 4, 1);
    // Some know of the change and some do not, and all offer the same.
    const outcomes = await Promise.all([
      placeOffers(old, offersOf([...ids(30), ...ids(30, 'x')])),
      placeOffers(stranger, offersOf([...ids(30), ...ids(30, 'x')])),
    ]);
    for (let i = 0; i < 60; i++) {
      const expected = i < 30 ? ['rejected', 'rejected'] : ['created', 'rejected'];
      expect(outcomes.map((each) => outcomeOf(each[i]!)).sort()).toEqual(expected);
    }
    expect(await count(old)).toBe(60);
    const next = open(queue, 8, 2);
    await next.agree();
    for (let partition = 0; partition < 8; partition++) {
      expect(await scene.redis.get(nativeKeys(scene.prefix, queue, partition).partitions)).toBe(`${epoch + 1} 8 4`);
    }
    for (const id of [...ids(30), ...ids(30, 'x')]) expect(await cancel(next, id)).toBe(true);
    expect(await count(next)).toBe(0);
  });

  it('leads to agreement even if several processes change them at once', async () => {
    for (let round = 0; round < 20; round++) {
      const { queue, partitions } = await openFull(2);
      const growing = [4, 8, 16].map((number, i) => open(queue, number, i));
      await Promise.all(growing.map((each) => each.agree()));
      expect(await count(partitions)).toBe(30);
      expect(partitions.partitioning.count).toBe(16);
      for (const each of growing) expect(await cancel(each, 'm1')).toBe(each === growing[0]);
    }
  });

  it('leads to agreement again after a partition has lost its data', async () => {
    for (const lost of [0, 3]) {
      const { queue, partitions } = await openFull(4, []);
      const [grown, stale] = [open(queue, 8, 1), open(queue, 4, 2)];
      await stale.agree();
      await grown.agree();
      const keys: string[] = Object.values({ ...nativeKeys(scene.prefix, queue, lost) });
      await scene.redis.del(keys);
      const outcomes = await Promise.all([grown, partitions].map((each) => placeOffers(each, offersOf(ids(40)))));
      for (const i of ids(40, '').map(Number)) {
        expect(outcomes.map((each) => outcomeOf(each[i]!)).sort()).toEqual(['created', 'rejected']);
      }
      expect(await count(stale)).toBe(40);
      expect(stale.partitioning).toEqual(grown.partitioning);
    }
  });

  it('is made up for by the next call to a partition that missed it', async () => {
    const { queue, partitions } = await openFull(8, []);
    for (const partition of [0, 5]) {
      await scene.redis.del(nativeKeys(scene.prefix, queue, partition).partitions);
      const outcomes = await placeOffers(partitions, offersOf(ids(40, `x${partition}-`)));
      expect(outcomes.map(outcomeOf)).toEqual(outcomes.map(() => 'created'));
      expect(await scene.redis.get(nativeKeys(scene.prefix, queue, partition).partitions)).toBe(
        formatPartitioning(partitions.partitioning),
      );
    }
  });

  it('fails with an error that names the key if something else has overwritten the partitioning', async () => {
    const { queue, partitions } = await openFull(4);
    await setPartitioning(queue, 0, 'eight');
    await expect(partitions.refresh()).rejects.toMatchObject({
      code: 'STORE_REFUSED',
      message: expect.stringContaining(`{${queue}}:partitions does not hold the partitioning of the queue`),
    });
  });
});
