import { availableParallelism, loadavg } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DelayQueueModule, type DelayQueueProducer, type OfferRequest } from 'nestjs-delay-queue';
import { pinned } from '../../bench/src/measure/pinned.js';
import { type Distribution, distributionOf } from '../../bench/src/measure/percentiles.js';
import { type PageApplication, startPageApplication } from '../support/board/page-application.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';
import { PingWatch } from './ping-watch.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const MIB = 1024 * 1024;

/** The maximum time of an answer, ms. */
const ANSWER = 200;
/** The maximum time for which an answer may keep the server busy, ms. */
const BLOCKED = 5;
const TIMES = 20;
const LISTS_AT_ONCE = 8;

const overload = () => Math.max(1, loadavg()[0]! / availableParallelism());

describe('the board', () => {
  const scene = new Scene({});
  let page: PageApplication;
  let producer: DelayQueueProducer;

  beforeAll(async () => {
    const connection = DelayQueueModule.forRoot({
      connection: scene.url,
      prefix: scene.prefix,
      consume: false,
      queues: { grouped: { groups: { concurrency: 1 } }, large: { maxPayloadBytes: 2 * MIB } },
    });
    page = await startPageApplication({ parts: { imports: [connection] } });
    ({ producer } = page);
  });
  afterAll(() => page.close());

  /** Offers many messages, in lists, several at a time. */
  async function offerAll(queue: string, count: number, requestOf: (i: number) => OfferRequest): Promise<void> {
    let next = 0;
    const offerOn = async () => {
      while (next < count) {
        const first = next;
        next += 1000;
        const length = Math.min(1000, count - first);
        await producer.offerMany(
          queue,
          Array.from({ length }, (_, i) => requestOf(first + i)),
        );
      }
    };
    await Promise.all(Array.from({ length: LISTS_AT_ONCE }, offerOn));
  }

  /**
   * Asks for each view again and again, while another client watches how quickly the server answers. The server shares its core with that
   * client only, so that the client does not wait for the application.
   */
  async function expectQuick(data: string, views: Readonly<Record<string, string>>): Promise<void> {
    const report: string[] = [];
    const ms = ({ p50, max }: Distribution) => `p50 ${p50.toFixed(1)}, most ${max.toFixed(1)} ms`;
    const tooSlow: string[] = [];
    for (const [view, path] of Object.entries(views)) {
      const watch = await PingWatch.start(scene.url);
      const times: number[] = [];
      await pinned([scene.server.pid!, process.pid, watch.pid], async () => {
        for (let i = 0; i < TIMES; i++) {
          const start = performance.now();
          const { status, text } = await page.board.get(`i/-/${path}`);
          times.push(performance.now() - start);
          if (status !== 200) throw new Error(`${view}: ${status} ${text}`);
        }
      });
      const [ping] = await watch.stop();
      const took = distributionOf(times);
      report.push(`${view}: ${ms(took)}; PING p99 ${ping!.p99.toFixed(2)} ms`);
      if (took.max > ANSWER * overload() || ping!.p99 > BLOCKED * overload()) tooSlow.push(report.at(-1)!);
    }
    console.log(`${data}\n${report.join('\n')}`);
    expect(tooSlow).toEqual([]);
  }

  test('shows 10 million messages quickly and hardly delays other clients', async () => {
    const count = 10_000_000;
    const queue = 'many';
    await offerAll(queue, count, (i) => ({
      id: `order-${i}`,
      payload: { orderId: i, customer: `customer-${i % 1000}` },
      type: i % 2 ? 'cancel' : 'remind',
      delay: HOUR + ((i * 7919) % (90 * DAY)),
    }));
    expect((await producer.counts(queue)).delayed).toBe(count);
    const now = Date.now();
    const at = (time: number) => new Date(now + time).toISOString();
    const range = `dueFrom=${at(45 * DAY)}&dueTo=${at(46 * DAY)}`;
    const histogram = (to: number, buckets: number) =>
      `queues/${queue}/histogram?from=${at(0)}&to=${at(to)}&buckets=${buckets}`;
    const list = `queues/${queue}/messages?state=delayed&limit=100`;
    await expectQuick('10 million messages', {
      overview: 'queues',
      'the next hour by minute': histogram(HOUR, 60),
      'a day by hour': histogram(DAY, 24),
      '90 days by day': histogram(90 * DAY, 90),
      'the first messages': list,
      'a bar of the histogram': `${list}&${range}`,
      'text that is found': `${list}&text=customer-17`,
      'text that is not found': `${list}&text=nowhere`,
      'an id prefix': `${list}&idPrefix=order-99999&${range}`,
      'one message': `queues/${queue}/messages/order-${count / 2}`,
      repeats: `queues/${queue}/repeats`,
    });
  }, 3_600_000);

  test('shows 10,000 queues quickly and hardly delays other clients', async () => {
    for (let first = 0; first < 10_000; first += 100) {
      const names = Array.from({ length: 100 }, (_, i) => `tenant-${String(first + i).padStart(5, '0')}`);
      await Promise.all(names.map((name) => producer.offer(name, {}, '1h')));
    }
    await expectQuick('10,000 queues', {
      overview: 'queues?limit=50',
      'the last queues': 'queues?limit=50&cursor=tenant-09940',
      'a prefix': 'queues?limit=50&prefix=tenant-07',
      'one queue': 'queues/tenant-05000',
      workers: 'workers',
    });
  }, 600_000);

  test('shows 1,000 groups quickly and hardly delays other clients', async () => {
    const count = 100_000;
    const hangs = (_: unknown, { signal }: { readonly signal: AbortSignal }) =>
      new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    await scene.startApp({
      module: { queues: { grouped: { groups: { concurrency: 1 } } } },
      providers: [handlerOf('grouped', hangs, { concurrency: 20 })],
    });
    await offerAll('grouped', count, (i) => ({ payload: { i }, delay: 0, group: `customer-${i % 1000}` }));
    await until(async () => (await producer.counts('grouped')).delayed === 0, { within: 300_000 });
    await expectQuick('1,000 groups', {
      groups: 'queues/grouped/groups?limit=100',
      'ready messages': 'queues/grouped/messages?state=ready&limit=100',
      'a group': 'queues/grouped/messages?state=ready&group=customer-17&limit=100',
      'active messages': 'queues/grouped/messages?state=active',
    });
  }, 900_000);

  test('shows 1,000 payloads of 1 MiB quickly and hardly delays other clients', async () => {
    const text = 'x'.repeat(MIB);
    for (let i = 0; i < 1000; i++) await producer.offer('large', { text }, 30 * DAY, { id: `export-${i}` });
    await expectQuick('1,000 payloads of 1 MiB', {
      'the first messages': 'queues/large/messages?state=delayed&limit=100',
      'text that is not found': 'queues/large/messages?state=delayed&text=nowhere',
      'one message': 'queues/large/messages/export-500',
      repeats: 'queues/large/repeats',
    });
  }, 600_000);
});
