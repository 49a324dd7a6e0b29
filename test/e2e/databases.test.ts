import { afterEach, describe, expect, test } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Redis } from 'ioredis';
import {
  type ConnectionOptions,
  DelayedHandler,
  type DelayedMessage,
  DelayQueueModule,
  DelayQueueProducer,
  getDelayQueueProducerToken,
  type OfferOptions,
  type QueueOptions,
} from '../../lib/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { groupKeys } from '../../lib/store/native/native-keys.js';
import { Scene } from '../support/scene.js';
import { handlerOf, startRoot, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

/** The time for which the other database is busy while a message waits, ms; longer than a standby's grace. */
const WAIT = 3000;

describe('databases of one Redis server', () => {
  const scene = new Scene({});
  let ends: (() => unknown)[] = [];
  afterEach(async () => {
    await Promise.all(ends.map((end) => end()));
    ends = [];
    await scene.redis.flushall();
  });

  const urlOf = (database: number) => `${scene.url}/${database}`;
  const channelOf = (queue: string) => scene.key(queue, 'due');

  /** An application in a database, and how late its messages were, ms. */
  async function startIn(database: number, queue: string, options: QueueOptions = {}) {
    const late: number[] = [];
    const handle = (_: unknown, { lateness }: DelayedMessage) => void late.push(lateness);
    const app = await scene.startApp({
      module: { connection: urlOf(database) },
      providers: [handlerOf(queue, handle, options)],
    });
    return { app, late };
  }

  /** Keeps a queue busy with one message after another. */
  function keepBusy(producer: Pick<DelayQueueProducer, 'offer'>, queue: string, options: OfferOptions = {}): void {
    const timer = setInterval(() => void producer.offer(queue, {}, 20, options).catch(() => undefined), 50);
    ends.push(() => clearInterval(timer));
  }

  /** Collects all announcements on a channel. */
  async function overhear(channel: string): Promise<string[]> {
    const subscriber = new Redis(scene.url);
    ends.push(() => subscriber.disconnect());
    const texts: string[] = [];
    subscriber.on('message', (_channel, text: string) => texts.push(text));
    await subscriber.subscribe(channel);
    return texts;
  }

  test.each<[string, QueueOptions, OfferOptions]>([
    ['', {}, {}],
    [', with partitions', { partitions: 2 }, { id: 'of one partition' }],
    [', with groups', { groups: { concurrency: 1 } }, { group: 'one' }],
    [", in Redisson's layout", { layout: redisson() }, {}],
  ])(
    'keep queues with the same name separate and on time while one of them is busy%s',
    async (_what, options, offer) => {
      const queue = scene.newQueue();
      const busy = await startIn(0, queue, options);
      const quiet = await startIn(3, queue, options);
      keepBusy(busy.app.producer, queue, offer);
      await until(() => busy.late.length > 10);
      await quiet.app.producer.offer(queue, {}, WAIT, offer);
      await until(() => quiet.late.length > 0, { within: WAIT + 5000 });
      expect(quiet.late[0]).toBeLessThan(500);
      expect(Math.max(...busy.late)).toBeLessThan(500);
    },
  );

  test('keep instances of one application separate and on time while one of them is busy', async () => {
    const queue = scene.newQueue();
    const late = { main: [] as number[], billing: [] as number[] };
    @Injectable()
    class Handlers {
      @DelayedHandler(queue)
      ofMain(_: unknown, { lateness }: DelayedMessage): void {
        late.main.push(lateness);
      }

      @DelayedHandler(queue, { instance: 'billing' })
      ofBilling(_: unknown, { lateness }: DelayedMessage): void {
        late.billing.push(lateness);
      }
    }
    const { prefix } = scene;
    const app: TestApp = await startRoot({
      module: class {},
      imports: [
        DelayQueueModule.forRoot({ connection: urlOf(0), prefix }),
        DelayQueueModule.forRoot({ name: 'billing', connection: urlOf(3), prefix }),
      ],
      providers: [Handlers],
    });
    ends.push(() => app.close());
    keepBusy(app.context.get(DelayQueueProducer, { strict: false }), queue);
    await until(() => late.main.length > 10);
    const billing = app.context.get<DelayQueueProducer>(getDelayQueueProducerToken('billing'), { strict: false });
    await billing.offer(queue, {}, WAIT);
    await until(() => late.billing.length > 0, { within: WAIT + 5000 });
    expect(late.billing[0]).toBeLessThan(500);
    expect(Math.max(...late.main)).toBeLessThan(500);
  });

  test('keep families with the same name separate', async () => {
    const family = scene.newQueue();
    const busy = await startIn(0, `${family}:*`);
    const quiet = await startIn(3, `${family}:*`);
    await busy.app.producer.offer(`${family}:a`, {}, 0);
    await until(() => busy.late.length > 0);
    await quiet.app.producer.offer(`${family}:b`, {}, 0);
    await until(() => quiet.late.length > 0);
    const inQuiet = new Redis(urlOf(3));
    ends.push(() => inQuiet.disconnect());
    expect(await inQuiet.keys('*')).not.toContain(expect.stringContaining(`${family}:a`));
    expect((await quiet.app.producer.queues()).queues).toEqual([`${family}:b`]);
  });

  test('may differ in the group options of a queue without a warning', async () => {
    const queue = scene.newQueue();
    await startIn(0, queue, { groups: { concurrency: 1 } });
    await startIn(3, queue, { groups: { concurrency: 2 } });
    // The applications of one process all log to the last of them.
    const { app } = await startIn(3, queue, { groups: { concurrency: 4 } });
    const differences = () =>
      app.log.flatMap((line) => /has groups: (.*), and another one has (.*?);/.exec(line) ?? []);
    await until(() => differences().length >= 6);
    const [two, four] = [2, 4].map((concurrency) => `{ concurrency: ${concurrency}, onRetry: 'hold' }`);
    expect(
      differences()
        .filter((text) => text.startsWith('{'))
        .sort(),
    ).toEqual([two, two, four, four]);
  });

  test.each<[string, (url: string) => ConnectionOptions]>([
    ['the path of a URL', (url) => `${url}/5`],
    ['the option db', (url) => ({ host: new URL(url).hostname, port: Number(new URL(url).port), db: 5 })],
    ['a client from a function', (url) => (overrides) => new Redis(url, { db: 5, ...overrides })],
    ["such a client's URL", (url) => (overrides) => new Redis(`${url}/5`, overrides)],
    [
      "such a client's SELECT",
      (url) => (overrides) => {
        const client = new Redis(url, overrides);
        client.on('ready', () => void client.select(5).catch(() => undefined));
        return client;
      },
    ],
  ])('are named in announcements if selected by %s', async (_how, connectionTo) => {
    const queue = scene.newQueue();
    const texts = await overhear(channelOf(queue));
    const { producer } = await scene.startApp({ module: { connection: connectionTo(scene.url) } });
    await producer.offer(queue, {}, '1h');
    await until(() => texts.length > 0);
    expect(texts).toEqual([expect.stringMatching(/^\d+ [\d.e-]+ 5$/)]);
  });

  test.each<[string, (now: number) => string]>([
    ['a transfer announced by another database', (now) => `transfer stranger ${now}000 0 ${now}000 -1 7`],
    ['a due time announced by another database', () => '0 0 7'],
    ['a transfer announced without a database', (now) => `transfer stranger ${now}000 0 ${now}000 -1`],
    [
      'a transfer with messages due, announced without a database',
      (now) => `transfer stranger ${now}000 9 ${now}000 ${now}`,
    ],
    ['a due time announced without a database', () => '0 0'],
    ['partitions announced without a database', () => 'partitions'],
    ['groups announced without a database', () => 'groups? 9 pass'],
    ['an announced abort', () => 'abort token id'],
  ])('are not disturbed by %s', async (_what, announcement) => {
    const queue = scene.newQueue();
    const { app, late } = await startIn(0, queue, { groups: { concurrency: 1 } });
    await app.producer.offer(queue, {}, WAIT / 2);
    const channels = [channelOf(queue), groupKeys(scene.prefix, queue).due];
    const publish = () => channels.map((channel) => scene.redis.publish(channel, announcement(Date.now())));
    const timer = setInterval(publish, 20);
    ends.push(() => clearInterval(timer));
    await until(() => late.length > 0, { within: WAIT + 5000 });
    expect(late[0]).toBeLessThan(500);
    expect(app.log.filter((line) => /^(warn|error)/.test(line) && !line.includes('SIGTERM'))).toEqual([]);
  });
});
