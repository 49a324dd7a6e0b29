import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DelayQueueModuleOptions, DelayQueueProducer, QueueOptions } from '../../lib/index.js';
import { partitionOf } from '../../lib/message/partition-of.js';
import { nativeKeys } from '../../lib/store/native/native-keys.js';
import { Handled } from '../support/handled.js';
import { randomName } from '../support/random-name.js';
import type { ClusterMember } from '../support/redis/redis-cluster.js';
import { startRedis } from '../support/redis/start-redis.js';
import type { TestRedis } from '../support/redis/test-redis.js';
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
/** How long messages are offered after the fault, ms. */
const PERIOD = 8000;
/** What another server and the way to the right shard may add, ms. */
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

/** A queue of an application of its own. */
class TestQueue {
  readonly name = randomName('orders');
  readonly #handled = new Handled();
  readonly #offered = new Set<string>();
  readonly #answers: Promise<unknown>[] = [];
  #producer!: DelayQueueProducer;
  close: () => Promise<void> = () => Promise.resolve();

  async start(connection: DelayQueueModuleOptions['connection'], options: QueueOptions): Promise<void> {
    const work = async (...call: Parameters<Handled['record']>) => {
      this.#handled.record(...call);
      await sleep(WORK);
    };
    const { producer, close } = await startTestApp(
      { connection, queues: { [this.name]: options }, offerTimeout: 2000 },
      { providers: [handlerOf(this.name, work, { concurrency: CONCURRENCY })] },
    );
    [this.#producer, this.close] = [producer, close];
  }

  offer(id: string, delay: number): void {
    this.#offered.add(id);
    this.#answers.push(this.#producer.offer(this.name, null, delay, { id }));
  }

  /** The lateness of all but the latest 1 %, ms, once all have been handled. */
  async lateness(): Promise<number> {
    await Promise.all(this.#answers);
    await until(() => this.#handled.calls.length >= this.#offered.size, { within: 10_000 });
    const late = this.#handled.calls.map((call) => call.late).sort((a, b) => a - b);
    return late[Math.floor(late.length * 0.99)]!;
  }
}

describe('when a shard that holds partitions of a queue fails and is not replaced', () => {
  const cluster = useCluster(['--cluster-require-full-coverage', 'no']);
  let beside: TestRedis;

  beforeAll(async () => {
    beside = await startRedis();
  });
  afterAll(() => beside.stop());

  const queues: TestQueue[] = [];
  afterEach(() => Promise.all(queues.splice(0).map((queue) => queue.close())));

  const shardOf = (queue: string, partition: number) =>
    cluster().primaryOf(nativeKeys(PREFIX, queue, partition).delayed);

  // A busy machine delays both queues: whatever stalls this process or the machine is no fault of the shard.
  test.each(Object.keys(FAULTS))(
    'messages of the other partitions are about as punctual as those of a queue beside it if the shard %s',
    async (fault) => {
      const [queue, other] = [new TestQueue(), new TestQueue()];
      queues.push(queue, other);
      await queue.start({ cluster: { nodes: cluster().nodes } }, { partitions: PARTITIONS });
      await other.start(beside.url, {});
      const shards = await Promise.all(
        Array.from({ length: PARTITIONS }, (_, partition) => shardOf(queue.name, partition)),
      );
      const doomed = shards[0]!;
      const replica = await cluster().replicaOf(nativeKeys(PREFIX, queue.name, 0).delayed);
      expect(shards.some((shard) => shard !== doomed)).toBe(true);
      await FAULTS[fault]!(replica);
      await FAULTS[fault]!(doomed);
      const began = performance.now();
      for (let i = 0; performance.now() < began + PERIOD;) {
        const id = randomName('message');
        if (shards[partitionOf(id, PARTITIONS)] === doomed) continue;
        const delay = 100 + Math.floor(Math.random() * 100);
        for (const each of queues) each.offer(id, delay);
        const ahead = (++i * 1000) / RATE - (performance.now() - began);
        if (ahead > 0) await sleep(ahead);
      }
      const [late, usual] = await Promise.all([queue.lateness(), other.lateness()]);
      console.log(`a shard ${fault}: lateness p99 of the others ${late} ms, of a queue beside it ${usual} ms`);
      await REPAIRS[fault]!(doomed);
      await REPAIRS[fault]!(replica);
      await cluster().untilWhole();
      expect(late).toBeLessThanOrEqual(2 * usual + SLACK);
    },
  );
});
