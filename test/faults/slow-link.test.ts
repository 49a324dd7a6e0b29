import { describe, expect, test } from '@jest/globals';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import { connectionsFor } from '../support/tcp-proxy/filters.js';
import { Proxies } from '../support/tcp-proxy/proxies.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const LEASE = 10_000;
const OFFER_TIMEOUT = 1000;
const MESSAGES = 16;
const PAYLOAD = 'x'.repeat(250_000);
/** Bytes a second: one payload takes longer than any call may. */
const BANDWIDTH = 50_000;

describe('A worker whose connection is too slow for the messages that it claims', () => {
  const scene = new Scene();
  const proxies = new Proxies(scene);

  test.each(['native', 'redisson'] as const)(
    'in layout %s keeps none from others for longer than a lease and 2 s, and costs none an attempt',
    async (layout) => {
      const queue = scene.newQueue();
      const handled = new Handled();
      const proxy = await proxies.start();
      const defaults = { layout, lease: LEASE } as const;
      const { producer } = await scene.startApp({ module: { consume: false, defaults } });
      const slow = new Handled();
      await scene.startApp({
        module: { connection: proxy.url, offerTimeout: OFFER_TIMEOUT, defaults },
        providers: [handlerOf(queue, slow.record)],
      });
      proxy.limitBandwidth(BANDWIDTH, connectionsFor('commands'));
      const payloads = Array.from({ length: MESSAGES }, () => ({ payload: PAYLOAD, delay: 100 }));
      const offered = await producer.offerMany(queue, payloads);
      await until(async () => (await producer.counts(queue)).active > 0);
      const start = performance.now();

      // Nest's log of the process goes to the application that was started last.
      const { log } = await scene.startApp({ module: { defaults }, providers: [handlerOf(queue, handled.record)] });
      await handled.untilCalls(MESSAGES, { within: LEASE + 2000 });
      console.log(`${layout}: a healthy worker had all messages after ${Math.round(performance.now() - start)} ms`);
      expect(slow.calls).toEqual([]);
      expect([...handled.ids].sort()).toEqual(offered.map(({ id }) => id).sort());
      expect(handled.calls.every(({ attempt }) => attempt === 1)).toBe(true);
      expect(log.some((line) => line.includes('claiming failed'))).toBe(true);
      await until(async () => Object.values(await producer.counts(queue)).join() === '0,0,0,0');
    },
  );
});
