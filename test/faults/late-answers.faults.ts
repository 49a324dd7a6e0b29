import { describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DelayQueueEvent, DelayQueueModuleOptions } from '../../lib/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import type { Hold } from '../support/tcp-proxy/faults.js';
import { callsOf } from '../support/tcp-proxy/filters.js';
import { Proxies } from '../support/tcp-proxy/proxies.js';
import type { TcpProxy } from '../support/tcp-proxy/tcp-proxy.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

/** How long a network holds calls or their answers, ms. */
const HELD = 1500;
const DELAY = 200;
/** How much two processes on a busy machine may differ about one instant, ms. */
const SLACK = 300;

/** Ways to hold up the calls that claim. */
const HOLDS: readonly [string, (proxy: TcpProxy) => Hold[]][] = [
  ['its reply', (proxy) => [proxy.holdReplies(callsOf('transfer')), proxy.holdReplies(callsOf('claim'))]],
  ['its call', (proxy) => [proxy.hold(callsOf('transfer')), proxy.hold(callsOf('claim'))]],
];

const LAYOUTS: readonly [string, DelayQueueModuleOptions['defaults'] & object][] = [
  ['the native layout', {}],
  ['partitions', { partitions: 2 }],
  ['the Redisson layout', { layout: redisson() }],
];

describe.each(LAYOUTS)('a claim in %s', (_, defaults) => {
  const scene = new Scene();
  const proxies = new Proxies(scene);

  async function start() {
    const queue = scene.newQueue();
    const handled = new Handled();
    const lateness: number[] = [];
    const expired: string[] = [];
    const event = (reported: DelayQueueEvent) => void (reported.name === 'expired' && expired.push(reported.id));
    const proxy = await proxies.start();
    const { producer } = await scene.startApp({ module: { consume: false, defaults } });
    const handler = handlerOf(queue, (payload, message) => {
      lateness.push(message.lateness);
      handled.record(payload, message);
    });
    await scene.startApp({
      module: { connection: proxy.url, defaults, observers: [{ event }] },
      providers: [handler],
    });
    await until(() => proxy.connections.some(({ sent }) => sent.has('BLPOP') || sent.has('BLMOVE')));
    return { proxy, producer, queue, handled, lateness, expired };
  }

  async function holdUp(proxy: TcpProxy, holdAll: (proxy: TcpProxy) => Hold[], offer: () => Promise<unknown>) {
    const holds = holdAll(proxy);
    await offer();
    await until(() => holds.some(({ count }) => count > 0));
    await sleep(HELD);
    for (const hold of holds) hold.release();
  }

  describe.each(HOLDS)('with %s delayed', (__, holdAll) => {
    test('tells the handler how late its message is', async () => {
      const { proxy, producer, queue, handled, lateness } = await start();
      await holdUp(proxy, holdAll, () => producer.offer(queue, 1, DELAY));
      await handled.untilCalls(1);
      const { late } = handled.calls[0]!;
      console.log(`held up for ${HELD} ms: ${late} ms late, and the handler was told ${lateness[0]} ms`);
      // The call that is held up may have been on its way before the message fell due.
      expect(late).toBeGreaterThan(HELD - DELAY - 10);
      expect(lateness[0]).toBeGreaterThanOrEqual(late - 10);
      expect(lateness[0]).toBeLessThanOrEqual(late + SLACK);
    });

    if (!('layout' in defaults))
      test('drops only messages that have expired in the meantime', async () => {
        const { proxy, producer, queue, handled, expired } = await start();
        await holdUp(proxy, holdAll, () =>
          producer.offerMany(queue, [
            { payload: 1, delay: DELAY, id: 'expired', expiresAfter: HELD - 500 },
            { payload: 1, delay: DELAY, id: 'in time', expiresAfter: HELD + 1000 },
          ]),
        );
        await until(() => handled.calls.length + expired.length >= 2);
        expect({ handled: handled.ids, expired }).toEqual({ handled: ['in time'], expired: ['expired'] });
      });
  });
});
