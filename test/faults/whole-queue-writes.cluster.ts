import { describe, expect, test } from '@jest/globals';
import { partitionOf } from '../../lib/message/partition-of.js';
import { nativeKeys } from '../../lib/store/native/native-keys.js';
import { randomName } from '../support/random-name.js';
import { useCluster } from '../support/redis/use-cluster.js';
import { refusalOf } from '../support/refusal.js';
import { startTestApp } from '../support/test-app.js';

const PREFIX = 'delay-queue';
const PARTITIONS = 6;
const MESSAGES = 60;

describe('while a shard that holds partitions of a queue is down', () => {
  const cluster = useCluster(['--cluster-require-full-coverage', 'no']);

  test('a write to the whole queue is carried out in the other partitions, and completed by a second call', async () => {
    const queue = randomName('orders');
    const { producer, close } = await startTestApp({
      connection: { cluster: { nodes: cluster().nodes } },
      prefix: PREFIX,
      queues: { [queue]: { partitions: PARTITIONS } },
      offerTimeout: 1000,
      consume: false,
    });
    const ids = Array.from({ length: MESSAGES }, (_, i) => `m${i}`);
    await producer.offerMany(
      queue,
      ids.map((id) => ({ payload: null, delay: '1h', id })),
    );
    const keyOf = (partition: number) => nativeKeys(PREFIX, queue, partition).delayed;
    const shards = await Promise.all(
      ids.slice(0, PARTITIONS).map((_, partition) => cluster().primaryOf(keyOf(partition))),
    );
    const doomed = shards[PARTITIONS - 1]!;
    const replica = await cluster().replicaOf(keyOf(PARTITIONS - 1));
    const lost = [...shards.keys()].filter((partition) => shards[partition] === doomed);
    const left = ids.filter((id) => lost.includes(partitionOf(id, PARTITIONS)));
    await replica.server.freeze();
    await doomed.server.freeze();

    const names = lost.map((partition) => `partition ${partition}`);
    const done = `was carried out in ${PARTITIONS - lost.length} of ${PARTITIONS} parts of the queue`;
    for (const [method, call] of [
      ['pause', () => producer.pause(queue)],
      ['clear', () => producer.clear(queue)],
    ] as const) {
      const refusal = await refusalOf(call());
      expect(refusal).toMatchObject({ code: 'OUTCOME_UNKNOWN', message: expect.stringContaining(`${method} ${done}`) });
      const { errors } = (refusal as Error).cause as AggregateError;
      expect(errors.map(({ message }: Error) => message.split(':')[0])).toEqual(names);
    }

    await doomed.server.thaw();
    await replica.server.thaw();
    await cluster().untilWhole();
    expect(await producer.isPaused(queue)).toBe(true);
    await producer.pause(queue);
    expect(await producer.clear(queue)).toBeLessThanOrEqual(left.length);
    expect(await producer.counts(queue)).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
    await close();
  });
});
