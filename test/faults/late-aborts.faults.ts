import { describe, expect, test } from '@jest/globals';
import type { DelayedMessage, DelayQueueEvent, DelayQueueModuleOptions } from '../../lib/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { Latch } from '../support/latch.js';
import { Scene } from '../support/scene.js';
import { callsOf, connectionsFor } from '../support/tcp-proxy/filters.js';
import { Proxies } from '../support/tcp-proxy/proxies.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

/** How long announcements take, ms. */
const DELAY = 100;

describe.each<[string, DelayQueueModuleOptions]>([
  ['Redis', {}],
  ['Redis with partitions', { defaults: { partitions: 3 } }],
  ['the Redisson layout', { defaults: { layout: redisson() } }],
])('an abort with a delayed announcement, with %s', (_name, module) => {
  const scene = new Scene();
  const proxies = new Proxies(scene);

  async function startConsumer(handle: (payload: unknown, message: DelayedMessage) => unknown) {
    const queue = scene.newQueue();
    const events: string[] = [];
    const observer = {
      event: (event: DelayQueueEvent) => {
        if ('id' in event && event.queue === queue) events.push(event.name);
      },
    };
    const { producer } = await scene.startApp({ module });
    const proxy = await proxies.start();
    await scene.startApp({
      module: { ...module, connection: proxy.url, observers: [observer] },
      providers: [handlerOf(queue, handle, { lease: '3s' })],
    });
    await until(() => proxy.connections.some(({ sent }) => sent.has('SUBSCRIBE')));
    return { queue, producer, proxy, events };
  }

  test('still reaches the handler as an abort, through a lease extension that overtakes the announcement', async () => {
    const aborted: unknown[] = [];
    const { queue, producer, proxy, events } = await startConsumer(async (_, { signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      aborted.push((signal.reason as Error).name);
    });
    const extension = proxy.hold(callsOf('extend'));
    await producer.offer(queue, 1, 0, { id: 'a' });
    await until(() => extension.count > 0);
    proxy.slowDown(DELAY, connectionsFor('announcements'));
    expect(await producer.abort(queue, 'a')).toBe(true);
    extension.release();
    await until(() => aborted.length === 1);
    expect(aborted).toEqual(['MessageAborted']);
    await until(() => events.length > 0);
    expect(events).toEqual(['aborted']);
  });

  test("is reported as an abort even if the handler's outcome is refused first", async () => {
    const [begun, mayEnd] = [new Latch(), new Latch()];
    const { queue, producer, proxy, events } = await startConsumer(async () => {
      begun.open();
      await mayEnd.opened;
    });
    await producer.offer(queue, 1, 0, { id: 'a' });
    await begun.opened;
    const outcome = proxy.hold(callsOf('settle'));
    mayEnd.open();
    await until(() => outcome.count > 0);
    proxy.slowDown(DELAY, connectionsFor('announcements'));
    expect(await producer.abort(queue, 'a')).toBe(true);
    outcome.release();
    await until(() => events.length > 0);
    expect(events).toEqual(['aborted']);
  });
});
