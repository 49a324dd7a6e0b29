import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { DelayQueueError } from '../../lib/index.js';
import { Handled } from '../support/handled.js';
import { isEmpty } from '../support/is-empty.js';
import { Scene } from '../support/scene.js';
import { callsOf } from '../support/tcp-proxy/filters.js';
import { Proxies } from '../support/tcp-proxy/proxies.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

/** How late a message may be on a busy machine, ms; the next check is a minute away. */
const LATEST = 5000;

describe('lost connections, announcements and scripts', () => {
  const scene = new Scene({});
  const proxies = new Proxies(scene);

  async function kill(type: 'pubsub' | 'normal'): Promise<number> {
    // Spares the connection that kills.
    return Number(await scene.redis.call('CLIENT', 'KILL', 'TYPE', type, 'SKIPME', 'yes'));
  }

  test('a message offered while the timer waits for a later one is handled on time', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const { producer } = await scene.startApp({ module: { consume: false } });
    await scene.startApp({ providers: [handlerOf(queue, handled.record)] });
    await producer.offer(queue, null, '1h');
    for (let i = 0; i < 10; i++) {
      await producer.offer(queue, null, 100, { id: `m${i}` });
      const { late } = await handled.until(`m${i}`, { within: 100 + LATEST });
      expect(late).toBeGreaterThanOrEqual(0);
      expect(late).toBeLessThan(LATEST);
    }
  });

  test('messages are handled on time while all subscriptions are repeatedly killed', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const { producer } = await scene.startApp({ module: { consume: false } });
    await scene.startApp({ providers: [handlerOf(queue, handled.record)] });
    await producer.offer(queue, null, '1h');

    let killed = 0;
    for (let i = 0; i < 20; i++) {
      killed += await kill('pubsub');
      await producer.offer(queue, null, 100, { id: `m${i}` });
      await sleep(50);
    }
    await handled.untilCalls(20);

    expect(killed).toBeGreaterThan(5);
    expect(new Set(handled.ids).size).toBe(20);
    for (const { late } of handled.calls) {
      expect(late).toBeGreaterThanOrEqual(0);
      // The safety bound is a check interval, but a new subscription triggers a transfer at once.
      expect(late).toBeLessThan(LATEST);
    }
  });

  test('a message whose announcement is lost is handled within the check interval', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const { producer } = await scene.startApp({
      module: { defaults: { checkInterval: '1s' } },
      providers: [handlerOf(queue, handled.record)],
    });
    await producer.offer(queue, null, '1h', { id: 'later' });
    // Written directly, so nobody announces it.
    const { offeredAt } = (await producer.find(queue, 'later'))!;
    await scene.redis.zadd(scene.key(queue, 'delayed'), offeredAt.getTime(), 'later');
    await handled.until('later', { within: 1000 + LATEST });
    expect(handled.ids).toEqual(['later']);
  });

  test('no acknowledged message is lost while all connections except subscriptions are killed repeatedly', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    // A claim whose answer is lost with its connection comes back after the lease.
    const handler = handlerOf(queue, handled.record, { lease: '1s' });
    const { producer } = await scene.startApp({ providers: [handler] });
    const acknowledged: string[] = [];
    const problems: unknown[] = [];
    const until4s = performance.now() + 4000;
    const killer = new Redis(scene.url);
    const killing = (async () => {
      for (; performance.now() < until4s; await sleep(400)) {
        await killer.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      }
    })();
    const offers: Promise<unknown>[] = [];
    for (; performance.now() < until4s; await sleep(2)) {
      const offer = producer.offer(queue, null, Math.floor(Math.random() * 300));
      offers.push(
        offer.then(
          ({ id }) => acknowledged.push(id),
          (error) => problems.push(error),
        ),
      );
    }
    await killing;
    await Promise.all(offers);
    killer.disconnect();
    await until(() => isEmpty(producer, queue));

    const ids = new Set(handled.ids);
    expect(acknowledged.length).toBeGreaterThan(100);
    expect(acknowledged.filter((id) => !ids.has(id))).toEqual([]);
    for (const problem of problems) {
      expect(problem).toBeInstanceOf(DelayQueueError);
      expect((problem as DelayQueueError).code).toMatch(/^(OUTCOME_UNKNOWN|NOT_CONNECTED)$/);
    }
    for (const { late } of handled.calls) expect(late).toBeGreaterThanOrEqual(0);
  });

  test('SCRIPT FLUSH has no effect while messages are being handled', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const { producer, log } = await scene.startApp({ providers: [handlerOf(queue, handled.record)] });
    for (let i = 0; i < 30; i++) {
      await producer.offer(queue, null, i * 3);
      await scene.redis.script('FLUSH');
    }
    await handled.untilCalls(30);
    await until(() => isEmpty(producer, queue));
    expect(handled.calls.every(({ attempt }) => attempt === 1)).toBe(true);
    expect(log.filter((line) => !line.startsWith('log'))).toEqual([]);
  });

  test('an offer retried with the same id after OUTCOME_UNKNOWN creates one message', async () => {
    const queue = scene.newQueue();
    const proxy = await proxies.start();
    const { producer } = await scene.startApp({ module: { connection: proxy.url, offerTimeout: 300 } });
    await producer.offer(queue, null, '1h', { id: 'ahead' });
    const answers = proxy.holdReplies(callsOf('offer'));
    const error: unknown = await producer.offer(queue, 'm', '1h', { id: 'm' }).catch((reason: unknown) => reason);
    answers.release();
    expect(error).toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    expect(await scene.redis.zscore(scene.key(queue, 'delayed'), 'm')).not.toBeNull();

    let created: boolean | undefined;
    await until(async () => {
      ({ created } = await producer.offer(queue, 'm', '1h', { id: 'm' }));
      return true;
    });
    expect(created).toBe(false);
    expect(await producer.counts(queue)).toMatchObject({ delayed: 2 });
  });
});
