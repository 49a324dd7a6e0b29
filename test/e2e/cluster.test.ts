import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Cluster } from 'ioredis';
import { Cluster as Cluster5 } from 'ioredis-5';
import type { DelayQueueError, DelayQueueModuleOptions } from '../../lib/index.js';
import { redisson, type RedissonOptions } from '../../packages/redisson/src/index.js';
import { Handled } from '../support/handled.js';
import { randomName } from '../support/random-name.js';
import type { ClusterMember, RedisCluster } from '../support/redis/redis-cluster.js';
import { useCluster } from '../support/redis/use-cluster.js';
import { refusalOf } from '../support/refusal.js';
import { handlerOf, startTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

const OlderCluster = Cluster5 as unknown as typeof Cluster;

/** The options of each kind of queue. */
const QUEUES: Readonly<Record<string, { readonly inRedisson?: RedissonOptions; readonly partitions?: number }>> = {
  'in the native layout': {},
  'with partitions': { partitions: 8 },
  "in Redisson's layout": { inRedisson: {} },
  "in Redisson's layout, under a name with a hash tag": { inRedisson: { name: 'shop:{eu}:orders' } },
  "in Redisson's layout, under a name with anything else": { inRedisson: { name: 'Bestellungen / größer' } },
};

describe('on a Redis Cluster', () => {
  const servers = useCluster(['--cluster-require-full-coverage', 'no']);
  let nodes: RedisCluster['nodes'];
  let connection: DelayQueueModuleOptions['connection'];
  let cluster: Cluster;

  beforeAll(() => {
    nodes = servers().nodes;
    connection = { cluster: { nodes } };
    cluster = new Cluster(nodes);
  });

  afterAll(() => cluster.disconnect());

  describe.each(Object.entries(QUEUES))('a queue %s', (_what, { inRedisson, ...options }) => {
    let app: TestApp;
    const queue = randomName('orders');
    const handled = new Handled();

    beforeAll(async () => {
      const provider = handlerOf(queue, handled.record);
      const layout = inRedisson && redisson(inRedisson);
      app = await startTestApp({ connection, queues: { [queue]: { ...options, layout } } }, { providers: [provider] });
    });
    afterAll(() => app.close());

    it('handles a message when it is due', async () => {
      const { id } = await app.producer.offer(queue, { a: 1 }, 200);
      await handled.untilCalls(1);
      expect(handled.calls).toMatchObject([{ id, payload: { a: 1 }, attempt: 1 }]);
    });

    it('can be paused and cleared, and its messages replaced, moved and cancelled', async () => {
      const { producer } = app;
      await producer.pause(queue);
      await producer.offer(queue, 1, 0, { id: 'a' });
      await producer.offer(queue, 2, '1h', { id: 'b' });
      await producer.offer(queue, 3, '1h', { id: 'b', onDuplicate: 'replace' });
      expect(await producer.reschedule(queue, 'b', '2h')).toBe(true);
      expect(await producer.find(queue, 'b')).toMatchObject({ payload: 3, state: 'delayed' });
      expect(await producer.cancel(queue, 'b')).toBe(true);
      // By then a transfer has made the first one ready.
      await until(async () => (await producer.nextDue(queue)) === null);
      await producer.resume(queue);
      await handled.until('a');
      expect(await producer.deadLetters(queue).list()).toEqual({ messages: [], cursor: null });
      expect(await producer.deadLetters(queue).redriveAll()).toBe(0);
      expect(await producer.deadLetters(queue).discard('none')).toBe(false);
      await producer.offer(queue, 4, '1h');
      expect(await producer.clear(queue)).toBe(1);
      expect(await producer.counts(queue)).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
    });

    it("has Redisson's structures under its name only in Redisson's layout", async () => {
      const { name = queue } = inRedisson ?? {};
      const suffix = name.includes('{') ? name : `{${name}}`;
      await app.producer.offer(queue, 'x', '1h', { id: 'x' });
      const kept = await Promise.all([
        cluster.zcard(`redisson_delay_queue_timeout:${suffix}`),
        cluster.llen(`redisson_delay_queue:${suffix}`),
      ]);
      expect(kept).toEqual(inRedisson ? [1, 1] : [0, 0]);
      await app.producer.cancel(queue, 'x');
    });
  });

  it('calls are rejected while no server owns their hash slot, and offers are accepted once one does', async () => {
    const queue = randomName('orders');
    const [owner, slot] = [await servers().primaryOf(`{${queue}}`), await cluster.cluster('KEYSLOT', queue)];
    const start = () => startTestApp({ connection, offerTimeout: 1500 });
    const early = await start();
    // The owner comes first, or it would tell the others that it has the slot.
    const others = servers().members.filter((member) => member !== owner);
    const deleteSlot = (member: ClusterMember) => servers().ask(member, 'CLUSTER', 'DELSLOTS', slot);
    for (const member of [owner, ...others]) await deleteSlot(member);
    // A ping that the owner sent before that gives it the slot again in the eyes of whoever receives it afterwards.
    await until(async () => {
      const errors = await Promise.all(servers().members.map((member) => deleteSlot(member).then(() => '', String)));
      return errors.every((error) => error.includes('already unassigned'));
    });
    const apps = [early, await start()];
    const offers = () => apps.map(({ producer }) => producer.offer(queue, 1, '1h'));
    const reads = apps.map(({ producer }) => producer.find(queue, 'a'));
    const refusals = await Promise.all([...offers(), ...reads].map(refusalOf));
    // Most calls wait for an owner. One whose last attempt still reached the former owner is refused by it.
    for (const { code, message } of refusals as DelayQueueError[]) {
      expect(`${code}: ${message}`).toMatch(/^NOT_CONNECTED: |^STORE_REFUSED: .*CLUSTERDOWN Hash slot not served/);
    }

    await servers().ask(owner, 'CLUSTER', 'ADDSLOTS', slot);
    await until(() => Promise.all(offers()).then(Boolean, () => false));
    await Promise.all(apps.map((app) => app.close()));
  }, 30_000);

  describe.each<[string, DelayQueueModuleOptions['connection']]>([
    ['ioredis 6 clients', (overrides) => new Cluster(nodes, { ...overrides, redisOptions: overrides })],
    ['ioredis 5 clients', (overrides) => new OlderCluster(nodes, { ...overrides, redisOptions: overrides })],
  ])('an application that creates %s', (_what, createClients) => {
    it('handles messages on all primaries', async () => {
      const queueOf = new Map<ClusterMember, string>();
      while (queueOf.size < 3) {
        const queue = randomName('orders');
        queueOf.set(await servers().primaryOf(`{${queue}}`), queue);
      }
      const queues = [...queueOf.values()];
      const handled = new Handled();
      const providers = queues.map((queue) => handlerOf(queue, handled.record));
      const app = await startTestApp({ connection: createClients }, { providers });
      for (const queue of queues) await app.producer.offer(queue, 1, 100, { id: queue });
      await handled.untilCalls(queues.length);
      await app.close();
      expect(handled.ids.sort()).toEqual([...queues].sort());
    });
  });
});
