import { describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { DelayQueueError } from '../../lib/index.js';
import { layouts } from '../support/layouts.js';
import { Scene } from '../support/scene.js';
import { connectionsFor } from '../support/tcp-proxy/filters.js';
import { Proxies } from '../support/tcp-proxy/proxies.js';
import { until } from '../support/until.js';

const OFFER_TIMEOUT = 5000;
/** The oldest offer is left with less time than an answer takes. */
const OUTAGE = 4970;
const OFFER_EVERY = 15;
/** A tenth of the timeout is left for an answer: a busy machine may add ten times what the network takes, ms. */
const ONE_WAY = 20;
const LAYOUTS = ['native', 'redisson'] as const;

describe.each(LAYOUTS)('an offer that waits for the end of an outage, in layout %s', (layout) => {
  const scene = new Scene();
  const proxies = new Proxies(scene);

  test('is written if its reply can arrive in time, and otherwise is not sent', async () => {
    const queue = scene.newQueue();
    const proxy = await proxies.start();
    const module = {
      connection: proxy.url,
      offerTimeout: OFFER_TIMEOUT,
      consume: false,
      defaults: { layout: layouts[layout] },
    };
    const { producer, log } = await scene.startApp({ module });
    await producer.offer(queue, 1, '1h', { id: 'before' });

    const answers = proxy.hold(() => true);
    proxy.reset();
    await until(() => log.some((line) => line.includes('for commands is down')));
    const offers: Promise<{ age: number; code: string; id: string }>[] = [];
    const begin = performance.now();
    for (let i = 0; performance.now() < begin + OUTAGE; i++) {
      const [id, offeredAt] = [`m${i}`, performance.now()];
      const age = () => begin + OUTAGE - offeredAt;
      offers.push(
        producer.offer(queue, 1, '1h', { id }).then(
          () => ({ id, age: age(), code: 'written' }),
          (error: unknown) => ({ id, age: age(), code: error instanceof DelayQueueError ? error.code : String(error) }),
        ),
      );
      await sleep(OFFER_EVERY);
    }
    proxy.slowDown(ONE_WAY);
    answers.release();
    const outcomes = await Promise.all(offers);
    const opened = () => proxy.connections.filter(connectionsFor('commands')).length;
    const openedAtEnd = opened();

    const unwritten = outcomes.filter(({ code }) => code !== 'written');
    expect(unwritten.map(({ code }) => code)).toEqual(unwritten.map(() => 'NOT_CONNECTED'));
    expect(unwritten.length).toBeGreaterThan(0);
    // A busy machine takes its time to connect.
    expect(unwritten.filter(({ age }) => age < OFFER_TIMEOUT / 4)).toEqual([]);
    for (const { id } of unwritten) expect(await producer.find(queue, id)).toBeNull();
    expect(opened()).toBe(openedAtEnd);
    expect(log.filter((line) => line.includes('no answer'))).toEqual([]);
  });
});
