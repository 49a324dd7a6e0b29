import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DelayQueueModuleOptions } from '../../lib/index.js';
import { Handled } from '../support/handled.js';
import { isEmpty } from '../support/is-empty.js';
import { randomName } from '../support/random-name.js';
import { RedisCluster } from '../support/redis/redis-cluster.js';
import { RedisSentinels } from '../support/redis/redis-sentinels.js';
import type { TestRedis } from '../support/redis/test-redis.js';
import { handlerOf, startTestApp } from '../support/test-app.js';
import { until } from '../support/until.js';
import { TirelessProducer } from './tireless-producer.js';

const OFFER_TIMEOUT = 1000;
/** Roughly how long the servers take to replace a primary that is gone, ms. */
const REPLACED_WITHIN = 5000;
/** How much later than its bound something may happen on a busy machine, ms. */
const SLACK = 4000;
/** An offer that was acknowledged this long before a fault has reached the replica, ms. */
const REPLICATED = 300;

/** Servers that replace each other, and the one that has a queue. */
interface Servers {
  readonly connection: DelayQueueModuleOptions['connection'];
  primaryOf(queue: string): Promise<TestRedis>;
  failOver(queue: string): Promise<void>;
  untilReplaced(queue: string, former: TestRedis): Promise<void>;
  untilWhole(): Promise<void>;
  stop(): Promise<void>;
}

const keyOf = (queue: string) => `{${queue}}`;

async function startCluster(): Promise<Servers> {
  const cluster = await RedisCluster.start();
  const primaryOf = async (queue: string) => (await cluster.primaryOf(keyOf(queue))).server;
  return {
    connection: { cluster: { nodes: cluster.nodes } },
    primaryOf,
    failOver: (queue) => cluster.failOver(keyOf(queue)),
    untilReplaced: (queue, former) =>
      until(async () => (await primaryOf(queue)) !== former, { within: REPLACED_WITHIN + SLACK }),
    untilWhole: () => cluster.untilWhole(),
    stop: () => cluster.stop(),
  };
}

async function startSentinels(): Promise<Servers> {
  const all = await RedisSentinels.start();
  return {
    connection: all.connection,
    primaryOf: () => all.primary(),
    failOver: () => all.failOver(),
    untilReplaced: (_queue, former) => all.untilReplaced(former),
    untilWhole: () => all.untilWhole(),
    stop: () => all.stop(),
  };
}

/**
 * Faults of the queue's primary. Each lasts until another server has taken its place, and returns a function that brings the former one
 * back. Its clients must not need that: they would learn of the change from the former primary itself.
 */
const FAULTS: Readonly<Record<string, (servers: Servers, queue: string) => Promise<() => Promise<void>>>> = {
  'is replaced as planned': async (servers, queue) => {
    await servers.failOver(queue);
    return () => Promise.resolve();
  },
  'is killed': async (servers, queue) => {
    const former = await servers.primaryOf(queue);
    await former.kill9();
    await servers.untilReplaced(queue, former);
    return () => former.restart();
  },
  'vanishes silently': async (servers, queue) => {
    const former = await servers.primaryOf(queue);
    await former.freeze();
    await servers.untilReplaced(queue, former);
    return () => former.thaw();
  },
};

describe.each([
  ['a cluster', startCluster],
  ['servers with sentinels', startSentinels],
])('the failover of a primary in %s', (where, start) => {
  let servers: Servers;

  beforeAll(async () => {
    servers = await start();
  });
  afterAll(() => servers.stop());

  test.each(Object.entries(FAULTS))(
    'loses no replicated message if the primary %s, and work soon resumes',
    async (what, happen) => {
      const queue = randomName('orders');
      const handled = new Handled();
      const options = { connection: servers.connection, offerTimeout: OFFER_TIMEOUT };
      const consumer = await startTestApp(options, {
        providers: [handlerOf(queue, handled.record, { lease: '2s', attempts: 100 })],
      });
      const { producer, ...app } = await startTestApp({ ...options, consume: false });
      const offering = new TirelessProducer(producer, queue, { name: 'p', hands: 4 });
      await handled.untilCalls(200);
      const acknowledgedBefore = offering.acknowledged.length;
      await sleep(REPLICATED);
      const since = handled.calls.length;
      const repair = await happen(servers, queue);
      const replaced = handled.calls.length;
      await handled.untilCalls(replaced + 200, { within: REPLACED_WITHIN + SLACK });
      await repair();
      await offering.stop();
      await until(() => isEmpty(producer, queue), { within: 20_000, every: 50 });
      await servers.untilWhole();

      const ats = handled.calls.slice(since - 1).map(({ at }) => at);
      const gap = ats.reduce((longest, at, i) => Math.max(longest, at - (ats[i - 1] ?? at)), 0);
      const ids = new Set(handled.ids);
      const isLost = (id: string) => !ids.has(id);
      const lost = offering.acknowledged.filter(isLost);
      console.log(
        `${where}: it ${what}: nothing was handled for ${gap} ms; ${offering.acknowledged.length} offers, ` +
          `${handled.calls.length - ids.size} calls too many, ${lost.length} lost with the former primary; ${offering.codes.join(' ')}`,
      );
      expect(offering.acknowledged.slice(0, acknowledgedBefore).filter(isLost)).toEqual([]);
      expect(handled.calls.filter(({ late }) => late < 0)).toEqual([]);
      expect(gap).toBeLessThan(REPLACED_WITHIN + OFFER_TIMEOUT + SLACK);
      await Promise.all([consumer.close(), app.close()]);
    },
  );
});
