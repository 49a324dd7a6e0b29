import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DelayQueueModuleOptions } from '../../lib/index.js';
import { RedisConnections } from '../../lib/redis/redis-connections.js';
import { systemClock } from '../../lib/timing/clock.js';
import { Handled } from '../support/handled.js';
import { LoggedEvents } from '../support/logged-events.js';
import { randomName } from '../support/random-name.js';
import { RedisCluster } from '../support/redis/redis-cluster.js';
import { useCluster } from '../support/redis/use-cluster.js';
import { refusalOf } from '../support/refusal.js';
import { ClusterProxies } from '../support/tcp-proxy/cluster-proxies.js';
import { callsOf, connectionsFor } from '../support/tcp-proxy/filters.js';
import { handlerOf, startTestApp, type TestApp, type TestAppParts } from '../support/test-app.js';
import { until } from '../support/until.js';

const BLOCK_TIMEOUT = 1000;
const OFFER_TIMEOUT = 1000;
/** How much later than its bound something may happen on a busy machine, ms. */
const SLACK = 3000;

describe('a cluster', () => {
  const cluster = useCluster();
  const closers: (() => Promise<void>)[] = [];
  let proxies: ClusterProxies;
  let queue: string;
  let handled: Handled;

  beforeEach(async () => {
    proxies = await ClusterProxies.start(cluster());
    queue = randomName('queue');
    handled = new Handled();
  });
  afterEach(async () => {
    await Promise.all(closers.splice(0).map((close) => close()));
    await proxies.stop();
  });

  const keyOf = (name: string) => `delay-queue:{${name}}:delayed`;

  /** A queue on another primary. */
  async function queueElsewhere(): Promise<string> {
    const here = await cluster().primaryOf(keyOf(queue));
    for (;;) {
      const other = randomName('queue');
      if ((await cluster().primaryOf(keyOf(other))) !== here) return other;
    }
  }

  async function startApp(parts: TestAppParts = {}, more: Partial<DelayQueueModuleOptions> = {}): Promise<TestApp> {
    const { connection } = proxies;
    const defaults = { blockTimeout: BLOCK_TIMEOUT };
    const app = await startTestApp({ connection, offerTimeout: OFFER_TIMEOUT, defaults, ...more }, parts);
    closers.push(() => app.close());
    return app;
  }

  const startConsumer = () => startApp({ providers: [handlerOf(queue, handled.record)] });

  /** The answer of the queue's primary, without a proxy in between. */
  async function look(command: string, part: string, ...words: string[]): Promise<unknown> {
    const key = `delay-queue:{${queue}}:${part}`;
    return cluster().ask(await cluster().primaryOf(key), command, key, ...words);
  }

  /** Keeps the answers to the next calls of a script back, and cuts them off once the calls have been carried out. */
  async function cutAnswers(
    script: Parameters<typeof callsOf>[0],
    isCarriedOut: () => Promise<boolean>,
  ): Promise<void> {
    const answers = proxies.holdReplies(callsOf(script));
    await until(isCarriedOut);
    proxies.reset(connectionsFor('commands'));
    answers.release();
  }

  describe('whose connections break', () => {
    test('leaves the outcome of a cancellation unknown instead of retrying it and reporting that nothing was there', async () => {
      const { producer } = await startApp();
      await producer.offer(queue, 1, '1h', { id: 'a' });
      await producer.cancel(queue, 'none');
      const [refusal] = await Promise.all([
        refusalOf(producer.cancel(queue, 'a')),
        cutAnswers('cancel', async () => (await look('ZSCORE', 'delayed', 'a')) === null),
      ]);
      expect(refusal).toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    });

    test('leaves the outcome of an offer unknown instead of rejecting it as its own duplicate', async () => {
      const { producer } = await startApp();
      await producer.offer(queue, 1, '1h');
      const [refusal] = await Promise.all([
        refusalOf(producer.offer(queue, 1, '1h', { id: 'a', onDuplicate: 'reject' })),
        cutAnswers('offer', async () => (await look('ZSCORE', 'delayed', 'a')) !== null),
      ]);
      expect(refusal).toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    });

    test('uses up no attempts of the claimed messages', async () => {
      const ids = Array.from({ length: 20 }, (_, i) => `m${i}`);
      const { producer } = await startConsumer();
      await producer.pause(queue);
      await producer.offerMany(
        queue,
        ids.map((id) => ({ id, payload: 1, delay: 0 })),
      );
      await until(async () => (await producer.counts(queue)).ready === ids.length);
      const cut = cutAnswers('claim', async () => Number(await look('HLEN', 'claims')) > 0);
      // The connection of the consumer would hold back this answer too.
      const { nodes } = cluster();
      const other = await startApp({}, { connection: { cluster: { nodes } }, consume: false });
      await Promise.all([other.producer.resume(queue), cut]);
      await handled.untilCalls(ids.length);
      expect(handled.calls.map(({ attempt }) => attempt)).toEqual(ids.map(() => 1));
    });

    test('accepts offers that are made before the client has reconnected', async () => {
      const { producer, log } = await startApp();
      // Only the connection to the queue's primary: an outage of another one might be logged sooner.
      const proxy = proxies.before(await cluster().primaryOf(keyOf(queue)));
      const outages = () => log.filter((line) => line.includes('connection for commands is down')).length;
      const offers: Promise<unknown>[] = [];
      for (let i = 0; i < 20; i++) {
        await producer.offer(queue, i, '1h');
        const before = outages();
        proxy.reset(connectionsFor('commands'));
        // From then on, and until the connection is open again, no call leaves.
        await until(() => outages() > before);
        offers.push(producer.offer(queue, i, '1h', { id: `m${i}` }));
      }
      await Promise.all(offers);
      expect(await producer.counts(queue)).toMatchObject({ delayed: 40 });
    });
  });

  describe('that moves a slot', () => {
    test('holds offers made during the move, and accepts them as soon as the slot has moved', async () => {
      const { producer } = await startConsumer();
      await producer.offer(queue, 1, '1h');
      const move = await cluster().beginMove(keyOf(queue));
      await move.moveKeys(1);
      const offers = Promise.all([1, 2, 3].map((i) => producer.offer(queue, i, 0)));
      const calls = proxies.watch(callsOf('offer'));
      await until(() => calls.some(({ count }) => count > 1));
      await move.finish();
      await offers;
      await handled.untilCalls(3);
      expect(handled.calls.map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
    });

    test('rejects an offer and writes nothing if the move takes too long', async () => {
      const { producer } = await startApp();
      await producer.offer(queue, 1, '1h');
      const move = await cluster().beginMove(keyOf(queue));
      await move.moveKeys(1);
      expect(await refusalOf(producer.offer(queue, 2, '1h'))).toMatchObject({
        code: 'STORE_REFUSED',
        message: expect.stringMatching(/TRYAGAIN.*moving the queue to another server/),
      });
      await move.finish();
      expect(await producer.counts(queue)).toMatchObject({ delayed: 1 });
    });

    test('answers for a key that has already moved', async () => {
      const connections = new RedisConnections({
        connection: proxies.connection,
        clock: systemClock,
        events: new LoggedEvents(),
        commandTimeout: OFFER_TIMEOUT,
        heartbeat: 60_000,
      });
      closers.push(() => connections.close());
      const { commands } = connections;
      await commands.send('SET', queue, 'value');
      const move = await cluster().beginMove(queue);
      await move.moveKeys();
      expect((await commands.send('GET', queue)).text()).toBe('value');
      await move.finish();
      expect((await commands.send('GET', queue)).text()).toBe('value');
      await commands.send('DEL', queue);
    });
  });

  describe('that grows', () => {
    test('is used where a slot has moved to a server that joined after the start', async () => {
      const growing = await RedisCluster.start();
      try {
        const { producer, close } = await startTestApp(
          { connection: { cluster: { nodes: growing.nodes } } },
          { providers: [handlerOf(queue, handled.record)] },
        );
        await producer.offer(queue, 1, '1h');
        const joined = await growing.join();
        await (await growing.beginMove(keyOf(queue), joined)).finish();
        await producer.offer(queue, 2, 0);
        await handled.untilCalls(1);
        expect(await producer.counts(queue)).toMatchObject({ delayed: 1 });
        expect(await growing.ask(joined, 'ZCARD', keyOf(queue))).toBe(1);
        await close();
      } finally {
        await growing.stop();
      }
    });
  });

  describe('whose replica takes over', () => {
    test('loses its connections for commands to the former primary soon after', async () => {
      const { producer } = await startApp();
      await producer.offer(queue, 1, '1h');
      const former = await cluster().primaryOf(keyOf(queue));
      const isConnected = async () =>
        String(await cluster().ask(former, 'CLIENT', 'LIST')).includes('name=delay-queue:commands ');
      expect(await isConnected()).toBe(true);
      await cluster().failOver(keyOf(queue));
      await producer.offer(queue, 2, '1h');
      await until(async () => !(await isConnected()), { within: OFFER_TIMEOUT + SLACK });
      expect(await producer.counts(queue)).toMatchObject({ delayed: 2 });
    });
  });

  describe('with a half-open subscription', () => {
    /** Waits until the scheduler only waits for announcements, and for its next check a minute later. */
    async function untilQuiet(): Promise<void> {
      const transfers = proxies.watch(callsOf('transfer'));
      let [seen, since] = [0, performance.now()];
      await until(() => {
        const count = transfers.reduce((sum, each) => sum + each.count, 0);
        if (count !== seen) [seen, since] = [count, performance.now()];
        return performance.now() - since > 1500;
      });
    }

    test('has unannounced messages handled once the loss is noticed, and announced ones on time after that', async () => {
      const { producer } = await startApp();
      await startConsumer();
      await producer.offer(queue, 0, 0, { id: 'first' });
      await handled.until('first');
      await untilQuiet();
      const dark = proxies.goDarkOnceFor(({ sent }) => sent.has('SSUBSCRIBE'));
      expect(dark).toHaveLength(1);
      await producer.offer(queue, 1, 100, { id: 'unannounced' });
      await handled.until('unannounced', { within: BLOCK_TIMEOUT + OFFER_TIMEOUT + SLACK });
      await untilQuiet();
      await producer.offer(queue, 2, 100, { id: 'announced' });
      await handled.until('announced', { within: SLACK });
    });
  });

  describe('with a server that hangs', () => {
    test('serves the queues of the other servers as before', async () => {
      const elsewhere = await queueElsewhere();
      const { producer } = await startApp({ providers: [handlerOf(elsewhere, handled.record)] });
      await producer.offer(queue, 0, '1h');
      await producer.offer(elsewhere, 0, 0, { id: 'first' });
      await handled.until('first');
      // Its neighbours still reach it, so it is not replaced.
      proxies.before(await cluster().primaryOf(keyOf(queue))).goDark(connectionsFor('commands'));
      const hanging = refusalOf(producer.offer(queue, 0, '1h'));
      for (let i = 0; i < 20; i++) {
        await producer.offer(elsewhere, i, 0, { id: `m${i}` });
        await sleep(100);
      }
      await handled.untilCalls(21);
      expect(Math.max(...handled.calls.map(({ late }) => late))).toBeLessThan(OFFER_TIMEOUT);
      expect(await hanging).toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    });
  });
});
