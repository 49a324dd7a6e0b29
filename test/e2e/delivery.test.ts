import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

/** Far less than the minute after which a queue is checked anyway, and long enough for a busy machine, ms. */
const LATEST = 3000;

describe('delivery', () => {
  const scene = new Scene();

  test('handles a message once its delay is over', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const { producer } = await scene.startApp({ providers: [handlerOf(queue, handled.record)] });

    const offered = await producer.offer(queue, { orderId: 7 }, 300, { headers: { trace: 'abc' } });
    const { payload, late, message } = await handled.until(offered.id);

    expect(offered.created).toBe(true);
    expect(payload).toEqual({ orderId: 7 });
    expect(message).toMatchObject({ queue, attempt: 1, headers: { trace: 'abc' }, dueAt: offered.dueAt });
    // A fraction of a millisecond is rounded up, so nothing is early.
    expect([300, 301]).toContain(message.dueAt.getTime() - message.offeredAt.getTime());
    expect(late).toBeGreaterThanOrEqual(0);
    expect(late).toBeLessThan(LATEST);
    await until(async () => (await producer.find(queue, offered.id)) === null);
    expect(await producer.counts(queue)).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
  });

  test('tells the handler how late its message is', async () => {
    const queue = scene.newQueue();
    const lateness: number[] = [];
    const note = handlerOf(queue, async (_payload, message) => {
      lateness.push(message.lateness);
      await sleep(50);
      lateness.push(message.lateness);
    });
    const { producer } = await scene.startApp({ providers: [note] });

    await producer.pause(queue);
    const { dueAt } = await producer.offer(queue, null, 0);
    await until(async () => (await producer.counts(queue)).ready === 1);
    await sleep(300);
    await producer.resume(queue);
    await until(() => lateness.length === 2);
    // This test and its Redis read the same clock. A timer may fire up to a millisecond early.
    const end = Date.now() - dueAt.getTime();
    const [first, second] = lateness as [number, number];
    expect(first).toBeGreaterThanOrEqual(299);
    expect(second - first).toBeGreaterThanOrEqual(49);
    expect(second).toBeLessThanOrEqual(end + 2);
  });

  test('handles messages due in the same millisecond in offer order', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const { producer } = await scene.startApp({
      providers: [handlerOf(queue, handled.record, { concurrency: 1 })],
    });

    const date = new Date(Date.now() + 200);
    const offers = Array.from({ length: 50 }, (_, i) => producer.offerAt(queue, i, date));
    await Promise.all(offers);
    await handled.untilCalls(50);

    expect(handled.payloads).toEqual([...Array(50).keys()]);
  });

  test('handles messages in the order of their due times, not that of their offers', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const { producer } = await scene.startApp({ providers: [handlerOf(queue, handled.record)] });

    await producer.offer(queue, 'later', '10m');
    await producer.offer(queue, 'soon', 600, { id: 'soon' });
    await producer.offer(queue, 'sooner', 250, { id: 'sooner' });
    await producer.offer(queue, 'now', 0, { id: 'now' });
    await handled.untilCalls(3);

    expect(handled.ids).toEqual(['now', 'sooner', 'soon']);
    for (const { late } of handled.calls) {
      expect(late).toBeGreaterThanOrEqual(0);
      expect(late).toBeLessThan(LATEST);
    }
  });

  test('handles as many messages at once as the concurrency allows, and no more', async () => {
    const queue = scene.newQueue();
    let running = 0;
    let most = 0;
    let done = 0;
    const handler = handlerOf(
      queue,
      async () => {
        most = Math.max(most, ++running);
        await sleep(5);
        running--;
        done++;
      },
      { concurrency: 4 },
    );
    const { producer } = await scene.startApp({ providers: [handler] });

    await producer.offerMany(
      queue,
      Array.from({ length: 60 }, () => ({ payload: null, delay: 0 })),
    );
    await until(() => done === 60);

    expect(most).toBe(4);
  });
});
