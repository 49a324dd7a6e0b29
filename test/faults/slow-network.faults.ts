import { describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import { callsOf, connectionsFor } from '../support/tcp-proxy/filters.js';
import { Proxies } from '../support/tcp-proxy/proxies.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

describe('slow replies', () => {
  const scene = new Scene();
  const proxies = new Proxies(scene);

  test("a message announced while a transfer's reply is in transit is handled on time", async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const proxy = await proxies.start();
    const { producer } = await scene.startApp({ module: { consume: false } });
    await scene.startApp({ module: { connection: proxy.url }, providers: [handlerOf(queue, handled.record)] });
    await producer.offer(queue, null, 0, { id: 'before' });
    await handled.until('before');
    await until(async () => (await producer.find(queue, 'before')) === null);
    await until(() => proxy.connections.some(({ sent }) => sent.has('SUBSCRIBE')));

    for (const round of ['first', 'second', 'third']) {
      await producer.offer(queue, null, '1h', { id: `${round}-later` });
      const hold = proxy.holdReplies(callsOf('transfer'));
      // A new subscription triggers a transfer at once, whose answer says to come back in an hour.
      expect(proxy.reset(connectionsFor('announcements'))).toBe(1);
      await until(() => hold.count > 0);
      // It subscribed later, so it hears an announcement after the application does.
      const spy = new Redis(proxy.url);
      const announced: string[] = [];
      spy.on('message', (_channel, text) => announced.push(text));
      await spy.subscribe(scene.key(queue, 'due'));
      const { dueAt } = await producer.offer(queue, null, 500, { id: `${round}-earlier` });
      await until(() => announced.some((text) => text.startsWith(String(dueAt.getTime()))));
      spy.disconnect();
      hold.release();

      // Without the announcement, the next check would find it in a minute.
      const { late } = await handled.until(`${round}-earlier`);
      expect(late).toBeGreaterThanOrEqual(0);
      expect(late).toBeLessThan(5000);
      await producer.cancel(queue, `${round}-later`);
    }
    expect(handled.calls.every(({ attempt }) => attempt === 1)).toBe(true);
  });

  test('with 100 ms of latency each way, no message is early and most are no more than a few round trips late', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const proxy = await proxies.start();
    const { producer } = await scene.startApp({ module: { consume: false } });
    await scene.startApp({ module: { connection: proxy.url }, providers: [handlerOf(queue, handled.record)] });
    await until(() => proxy.connections.filter(({ sent }) => sent.has('SUBSCRIBE') || sent.has('BLPOP')).length === 2);
    proxy.slowDown(100);
    const offers = Array.from({ length: 50 }, (_, i) => ({ payload: i, delay: 500 + i * 30 }));
    await producer.offerMany(queue, offers);
    await handled.untilCalls(50);
    const late = handled.calls.map((call) => call.late).sort((a, b) => a - b);
    console.log(
      `with 100 ms of latency each way: ${late.at(0)} to ${late.at(-1)} ms late, half of them at most ${late[25]} ms`,
    );
    expect(new Set(handled.ids).size).toBe(50);
    expect(late[0]).toBeGreaterThanOrEqual(0);
    // A busy machine may delay single messages.
    expect(late[25]).toBeLessThan(1200);
    expect(late.at(-1)).toBeLessThan(5000);
  });
});
