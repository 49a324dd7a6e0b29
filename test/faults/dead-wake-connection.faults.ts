import { describe, expect, test } from '@jest/globals';
import type { QueueOptions } from '../../lib/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import { connectionsFor } from '../support/tcp-proxy/filters.js';
import { Proxies } from '../support/tcp-proxy/proxies.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

/** Far less than it takes to notice that a connection for wake-up signals is dead, ms: its block timeout, 25 s, and 5 s more. */
const SOON = 5000;

const LAYOUTS: Readonly<Record<string, QueueOptions>> = {
  native: {},
  redisson: { layout: redisson() },
};

describe.each(Object.entries(LAYOUTS))(
  'a silently dead connection for wake-up signals, in layout %s',
  (_layout, options) => {
    const scene = new Scene();
    const proxies = new Proxies(scene);

    async function startBehindDeadConnection() {
      const queue = scene.newQueue();
      const handled = new Handled();
      const proxy = await proxies.start();
      const { producer } = await scene.startApp({
        module: { connection: proxy.url },
        providers: [handlerOf(queue, handled.record, { ...options, concurrency: 1 })],
      });
      await producer.offer(queue, 1, 0, { id: 'first' });
      await handled.until('first');
      const isWaiting = () => proxy.connections.some((each) => each.sent.has('BLPOP'));
      await until(isWaiting);
      proxy.goDark((connection) => connectionsFor('wake-signals')(connection));
      return { queue, handled, producer };
    }

    test('does not delay messages even before it is noticed', async () => {
      const { queue, handled, producer } = await startBehindDeadConnection();
      for (const id of ['a', 'b', 'c']) {
        await producer.offer(queue, 1, 0, { id });
        expect((await handled.until(id, { within: 2 * SOON })).late).toBeLessThan(SOON);
      }
    });
  },
);
