import { describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import { callsOf } from '../support/tcp-proxy/filters.js';
import { Proxies } from '../support/tcp-proxy/proxies.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

/** Error replies of servers, each with the advice in our error and log. */
const REPLIES: readonly (readonly [reply: string, advice: RegExp])[] = [
  ["READONLY You can't write against a read only replica.", /connect to the primary/],
  ['LOADING Redis is loading the dataset in memory', /try again later/],
  ['CLUSTERDOWN The cluster is down', /CLUSTER INFO/],
  ["MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", /wait for the failover/],
  ['BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.', /SCRIPT KILL/],
  ['NOREPLICAS Not enough good replicas to write.', /min-replicas-to-write/],
  [
    'MISCONF Redis is configured to save RDB snapshots, but it is unable to persist to disk.',
    /repair the disk or free space/,
  ],
  ["OOM command not allowed when used memory > 'maxmemory'.", /raise maxmemory/],
];

const LEASE = 2000;

describe('error replies from a Redis that is starting, failing over or full', () => {
  const scene = new Scene();
  const proxies = new Proxies(scene);

  /** Starts a queue that is handled through a proxy of its own. */
  async function startBehindProxy() {
    const queue = scene.newQueue();
    const handled = new Handled();
    const proxy = await proxies.start();
    const handler = handlerOf(
      queue,
      async (payload, message) => {
        handled.record(payload, message);
        await sleep(Number(payload));
      },
      { lease: LEASE },
    );
    const app = await scene.startApp({
      module: { connection: proxy.url, offerTimeout: '1s', defaults: { blockTimeout: '1s', checkInterval: '2s' } },
      providers: [handler],
    });
    const { producer, log } = app;
    const isGone = async (id: string) => (await producer.find(queue, id)) === null;
    await producer.offer(queue, 0, 0, { id: 'first' });
    await handled.until('first');
    await until(() => isGone('first'));
    return { queue, handled, proxy, producer, log, isGone };
  }

  test.each([
    ['once', 1],
    ['three times', 3],
  ])('a message is handled once after its transfer, claim and outcome were each refused %s', async (_often, times) => {
    const stages = [];
    // One after the other, because the application that starts last receives what all of them log.
    for (const [reply, advice] of REPLIES) stages.push({ reply, advice, ...(await startBehindProxy()) });
    await Promise.all(
      stages.map(async ({ queue, handled, proxy, producer, reply, isGone }) => {
        const scripts = ['transfer', 'claim', 'settle'] as const;
        const refusals = scripts.map((script) => proxy.refuse(callsOf(script), reply, times));
        await producer.offer(queue, 0, 50, { id: 'm' });
        await handled.until('m', { within: 30_000 });
        await until(() => isGone('m'), { within: 30_000 });
        expect(refusals.map(({ count }) => count)).toEqual([times, times, times]);
        // The loops are still alive: the next message is handled without delay.
        await producer.offer(queue, 0, 0, { id: 'next' });
        expect((await handled.until('next')).late).toBeLessThan(4000);
        expect(handled.calls.map(({ id, attempt }) => [id, attempt])).toEqual([
          ['first', 1],
          ['m', 1],
          ['next', 1],
        ]);
      }),
    );
    const log = stages.at(-1)!.log.filter((line) => line.startsWith('error'));
    for (const { queue, reply, advice } of stages) {
      const reported = log.filter((line) => line.includes(queue) && line.includes(reply) && advice.test(line));
      const counts = ['transfer failed', 'claiming failed', 'settling failed'].map(
        (step) => reported.filter((line) => line.includes(step)).length,
      );
      // READONLY makes the client reconnect, and unanswered calls are lost with the connection.
      if (reply.startsWith('READONLY')) expect(Math.max(...counts)).toBeGreaterThan(0);
      // One line for each kind of call, however many refusals: the transfer that claims is followed by plain ones.
      else expect([reply, ...counts]).toEqual([reply, Math.min(times, 2), 1, 1]);
    }
  });

  test.each([
    ['once', 1],
    ['twice', 2],
  ])('a lease is kept even if its extension is refused %s', async (_often, times) => {
    const held = [];
    for (const [reply] of REPLIES) held.push({ reply, ...(await startBehindProxy()) });
    await Promise.all(
      held.map(async ({ queue, handled, proxy, producer, reply, isGone }) => {
        const refused = proxy.refuse(callsOf('extend'), reply, times);
        const extended = proxy.watch(callsOf('extend'));
        await producer.offer(queue, 1.5 * LEASE, 0, { id: 'm' });
        await until(() => isGone('m'), { within: 30_000 });
        expect([reply, refused.count]).toEqual([reply, times]);
        expect(extended.count).toBeGreaterThan(0);
        expect(handled.of('m')).toMatchObject([{ attempt: 1 }]);
      }),
    );
    const log = held.at(-1)!.log.filter((line) => /^warn .*: leases could not be extended/.test(line));
    for (const { queue, reply } of held) {
      if (reply.startsWith('READONLY')) continue;
      expect([reply, log.filter((line) => line.includes(queue) && line.includes(reply)).length]).toEqual([reply, 1]);
    }
  });

  test.each([
    ['once', 1],
    ['three times', 3],
  ])('a subscription that was refused %s is soon established', async (_often, times) => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const proxy = await proxies.start();
    const [reply] = REPLIES[4]!;
    const refused = proxy.refuse(({ command }) => command === 'SUBSCRIBE', reply, times);
    const { producer, log } = await scene.startApp({
      module: { connection: proxy.url, defaults: { blockTimeout: '1m', checkInterval: '1m' } },
      providers: [handlerOf(queue, handled.record)],
    });
    const lines = (text: string) => log.filter((line) => line.includes(text));
    await until(() => lines('Announcements are received again').length > 0);
    expect(refused.count).toBe(times);
    expect(lines('Announcements cannot be received')).toEqual([expect.stringContaining(reply)]);
    await producer.offer(queue, 0, 50, { id: 'm' });
    expect((await handled.until('m')).late).toBeLessThan(4000);
  });

  test('a refused offer fails with STORE_REFUSED and advice, and succeeds when it is retried', async () => {
    const queue = scene.newQueue();
    const proxy = await proxies.start();
    const { producer } = await scene.startApp({ module: { connection: proxy.url, consume: false } });
    await producer.offer(queue, null, '1h');
    for (const [reply, advice] of REPLIES) {
      const id = reply.split(' ')[0]!;
      const refused = proxy.refuse(callsOf('offer'), reply);
      const error: unknown = await producer.offer(queue, null, '1h', { id }).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ name: 'DelayQueueError', code: 'STORE_REFUSED', messageId: id });
      expect((error as Error).message).toContain(reply);
      expect((error as Error).message).toMatch(advice);
      expect(refused.count).toBe(1);
      expect(await producer.offer(queue, null, '1h', { id })).toMatchObject({ id, created: true });
    }
    expect(await producer.counts(queue)).toMatchObject({ delayed: 1 + REPLIES.length });
  });

  test('a partly refused list reports how much was written, and succeeds when it is retried with the same ids', async () => {
    const queue = scene.newQueue();
    const proxy = await proxies.start();
    const { producer } = await scene.startApp({ module: { connection: proxy.url, consume: false } });
    await producer.offer(queue, null, '1h', { id: 'before' });
    const offers = Array.from({ length: 1000 }, (_, i) => ({ payload: i, delay: '1h' as const, id: `m${i}` }));
    const offerAll = () => producer.offerMany(queue, offers).catch((reason: unknown) => reason);
    const [[reply]] = [REPLIES[1]!];

    // The list is sent in four batches.
    proxy.refuse(callsOf('offer'), reply, 4);
    expect(await offerAll()).toMatchObject({ code: 'STORE_REFUSED' });
    expect(await producer.counts(queue)).toMatchObject({ delayed: 1 });

    proxy.refuse(callsOf('offer'), reply);
    const error = await offerAll();
    const { delayed } = await producer.counts(queue);
    expect(delayed).toBeGreaterThan(1);
    expect(delayed).toBeLessThan(1001);
    expect(error).toMatchObject({ code: 'OUTCOME_UNKNOWN', cause: { code: 'STORE_REFUSED' } });
    expect((error as Error).message).toContain(`Only ${delayed - 1} of 1000 offers are known to be written`);

    expect(await offerAll()).toHaveLength(1000);
    expect(await producer.counts(queue)).toMatchObject({ delayed: 1001 });
  });
});
