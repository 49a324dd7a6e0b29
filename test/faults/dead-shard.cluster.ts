import { describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DelayQueueProducer } from '../../lib/index.js';
import { partitionOf } from '../../lib/message/partition-of.js';
import { nativeKeys } from '../../lib/store/native/native-keys.js';
import { Handled } from '../support/handled.js';
import { randomName } from '../support/random-name.js';
import type { ClusterMember } from '../support/redis/redis-cluster.js';
import { useCluster } from '../support/redis/use-cluster.js';
import { handlerOf, startTestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

const PREFIX = 'delay-queue';
const PARTITIONS = 12;
/** Few, so that slots that a dead shard holds would be missed. */
const CONCURRENCY = 12;
/** How long a handler takes, ms. */
const WORK = 10;
const RATE = 200;
/** How long messages are offered before and after the fault, ms. */
const PERIOD = 8000;
/** What a busy machine may add, ms. */
const SLACK = 15;

/** Faults of a primary and of its replica. */
const FAULTS: Readonly<Record<string, (member: ClusterMember) => Promise<void>>> = {
  hangs: ({ server }) => server.freeze(),
  'is killed': ({ server }) => server.kill9(),
};
const REPAIRS: typeof FAULTS = {
  hangs: ({ server }) => server.thaw(),
  'is killed': ({ server }) => server.restart(),
};

describe('when a shard that holds partitions of a queue fails and is not replaced', () => {
  const cluster = useCluster(['--cluster-require-full-coverage', 'no']);

  const shardOf = (queue: string, partition: number) =>
    cluster().primaryOf(nativeKeys(PREFIX, queue, partition).delayed);

  /** Offers messages that belong to one of these partitions, at a steady rate. */
  async function offerTo(
    producer: DelayQueueProducer,
    queue: string,
    partitions: ReadonlySet<number>,
  ): Promise<string[]> {
    const ids: string[] = [];
    const answers: Promise<unknown>[] = [];
    const began = performance.now();
    for (let i = 0; performance.now() < began + PERIOD; i++) {
      const id = randomName('message');
      if (!partitions.has(partitionOf(id, PARTITIONS))) continue;
      ids.push(id);
      answers.push(producer.offer(queue, null, 100 + Math.floor(Math.random() * 100), { id }));
      const ahead = (ids.length * 1000) / RATE - (performance.now() - began);
      if (ahead > 0) await sleep(ahead);
    }
    await Promise.all(answers);
    return ids;
  }

  test.each(Object.keys(FAULTS))(
    'messages of the other partitions stay about as punctual as before if the shard %s',
    async (fault) => {
      const queue = randomName('orders');
      const connection = { cluster: { nodes: cluster().nodes } };
      const handled = new Handled();
      const work = async (...call: Parameters<Handled['record']>) => {
        handled.record(...call);
        await sleep(WORK);
      };
      const { producer, close } = await startTestApp(
        { connection, queues: { [queue]: { partitions: PARTITIONS } }, offerTimeout: 2000 },
        { providers: [handlerOf(queue, work, { concurrency: CONCURRENCY })] },
      );
      const shards = await Promise.all(Array.from({ length: PARTITIONS }, (_, partition) => shardOf(queue, partition)));
      const doomed = shards[0]!;
      const replica = await cluster().replicaOf(nativeKeys(PREFIX, queue, 0).delayed);
      const others = new Set([...shards.keys()].filter((partition) => shards[partition] !== doomed));

      const lateness = async () => {
        const ids = new Set(await offerTo(producer, queue, others));
        await until(() => handled.ids.filter((id) => ids.has(id)).length === ids.size, { within: 10_000 });
        const late = handled.calls.filter(({ id }) => ids.has(id)).map((call) => call.late);
        return late.sort((a, b) => a - b)[Math.floor(late.length * 0.99)]!;
      };
      const before = await lateness();
      await FAULTS[fault]!(replica);
      await FAULTS[fault]!(doomed);
      const after = await lateness();
      console.log(`a shard ${fault}: lateness p99 of the others ${before} ms before, ${after} ms after`);
      await REPAIRS[fault]!(doomed);
      await REPAIRS[fault]!(replica);
      await cluster().untilWhole();
      await close();
      expect(others.size).toBeLessThan(PARTITIONS);
      expect(after).toBeLessThanOrEqual(2 * before + SLACK);
    },
  );
});
