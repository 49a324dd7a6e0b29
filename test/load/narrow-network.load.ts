import { describe, expect, test } from '@jest/globals';
import { Handled } from '../support/handled.js';
import { isEmpty } from '../support/is-empty.js';
import { type LayoutName, layouts } from '../support/layouts.js';
import { Scene } from '../support/scene.js';
import { Proxies } from '../support/tcp-proxy/proxies.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const MESSAGES = 16;
const BYTES = 240_000;
const OFFER_TIMEOUT = 300;

describe('a worker on a slow network', () => {
  const scene = new Scene();
  const proxies = new Proxies(scene);

  async function start(bandwidth: number, layout: LayoutName = 'native') {
    const queue = scene.newQueue();
    const defaults = { layout: layouts[layout] };
    const { producer } = await scene.startApp({ module: { consume: false, defaults } });
    const proxy = await proxies.start();
    const handled = new Handled();
    const worker = await scene.startApp({
      module: { connection: proxy.url, offerTimeout: OFFER_TIMEOUT, defaults },
      providers: [handlerOf(queue, handled.record, { lease: '1h' })],
    });
    await producer.pause(queue);
    for (let i = 0; i < MESSAGES; i++) await producer.offer(queue, 'x'.repeat(BYTES), 0, { id: `m${i}` });
    await until(async () => (await producer.counts(queue)).ready === MESSAGES);
    proxy.limitBandwidth(bandwidth);
    await producer.resume(queue);
    return { queue, producer, handled, worker, defaults };
  }

  const attempts = (handled: Handled) => handled.calls.map(({ id, attempt }) => `${id} ${attempt}`).sort();
  const once = Array.from({ length: MESSAGES }, (_, i) => `m${i} 1`).sort();

  test('receives its messages in parts, each once, if a whole claim takes too long', async () => {
    const { queue, producer, handled } = await start(1_500_000);
    await until(() => isEmpty(producer, queue), {
      within: 60_000,
    });
    expect(attempts(handled)).toEqual(once);
  });

  test.each(['native', 'redisson'] as const)(
    'leaves its messages to another worker without using up an attempt if not even one arrives in time: layout %s',
    async (layout) => {
      const { queue, producer, handled, worker, defaults } = await start(50_000, layout);
      const others = new Handled();
      await until(() => worker.log.some((line) => line.includes('offerTimeout or lower maxPayloadBytes')), {
        within: 30_000,
      });
      await scene.startApp({ module: { defaults }, providers: [handlerOf(queue, others.record)] });
      await until(() => isEmpty(producer, queue), {
        within: 60_000,
      });
      expect(handled.calls).toEqual([]);
      expect(attempts(others)).toEqual(once);
    },
  );
});
