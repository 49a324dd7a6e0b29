import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { DelayQueueModule } from 'nestjs-delay-queue';
import type { HistogramView, QueueListView, QueueView } from 'nestjs-delay-queue-board';
import { type PageApplication, startPageApplication } from '../support/board/page-application.js';
import type { EventReader } from '../support/board/page-client.js';
import { Scene } from '../support/scene.js';
import { until } from '../support/until.js';

describe('the board while Redis is away', () => {
  const scene = new Scene({});
  let app: PageApplication | undefined;
  afterEach(() => app?.close());

  test('says so in answers and events, and goes on once it is back', async () => {
    const module = DelayQueueModule.forRoot({ connection: scene.url, prefix: scene.prefix, offerTimeout: '1s' });
    app = await startPageApplication({ parts: { imports: [module] } });
    const { board, producer } = app;
    await producer.offer('orders', {}, '1h');
    const stream = await board.events('i/-/events?queues=orders');
    const has = (reader: EventReader, wanted: string) => reader.events.some(({ event }) => event === wanted);
    await until(() => has(stream, 'rows'));

    await scene.server.kill9();
    await until(() => has(stream, 'away'), { within: 30_000 });
    expect(await board.get('i/-/queues/orders')).toMatchObject({
      status: 503,
      body: { error: { code: 'UNAVAILABLE' } },
    });
    expect((await board.get('config')).status).toBe(200);
    const late = await board.events('i/-/events?queues=orders');
    await until(() => has(late, 'away'));

    await scene.server.restart();
    await until(() => has(stream, 'back') && has(late, 'rows'), { within: 30_000 });
    expect((await board.get('i/-/queues/orders')).status).toBe(200);
  });
});

describe.each([-1, 1])('the board of a process whose clock is %s h wrong', (hours) => {
  const scene = new Scene();
  let app: PageApplication | undefined;
  afterEach(async () => {
    jest.useRealTimers();
    await app?.close();
  });

  test("tells what is overdue by Redis' clock", async () => {
    const module = DelayQueueModule.forRoot({ connection: scene.url, prefix: scene.prefix });
    app = await startPageApplication({ parts: { imports: [module] } });
    const { board, producer } = app;
    const now = Date.now();
    const at = (minutes: number) => new Date(now + minutes * 60_000);
    const queue = scene.newQueue();
    await producer.offerAt(queue, {}, at(-10));
    await producer.offerAt(queue, {}, at(10));
    const punctual = scene.newQueue();
    await producer.offerAt(punctual, {}, at(10));

    shiftClock(hours * 3_600_000);
    const { body: late } = await board.get<QueueView>(`i/-/queues/${queue}`);
    expect(late.overdueMs).toBeGreaterThanOrEqual(600_000);
    expect(late.overdueMs).toBeLessThan(700_000);
    expect(late.notes.map(({ code }) => code)).toContain('overdue');
    const { body: early } = await board.get<QueueView>(`i/-/queues/${punctual}`);
    expect(early.overdueMs).toBe(0);
    expect(early.notes.map(({ code }) => code)).not.toContain('overdue');
    const range = `from=${at(0).toISOString()}&to=${at(60).toISOString()}`;
    const { body: histogram } = await board.get<HistogramView>(`i/-/queues/${queue}/histogram?${range}`);
    expect(histogram.overdue).toBe(1);
    const { body: list } = await board.get<QueueListView>(`i/-/queues?prefix=${queue}`);
    for (const answer of [late, early, histogram, list]) {
      expect(Math.abs(Date.parse(answer.now) - now)).toBeLessThan(60_000);
    }
  });
});

/** Makes this process's wall clock wrong, and stops it. Timers go on. */
function shiftClock(by: number): void {
  const others = ['hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'clearImmediate'] as const;
  const timers = ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] as const;
  jest.useFakeTimers({ now: Date.now() + by, doNotFake: [...others, ...timers] });
}
