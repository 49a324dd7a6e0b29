import { availableParallelism, loadavg } from 'node:os';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { DelayedHandler } from 'nestjs-delay-queue';
import { DelayQueueExporter } from 'nestjs-delay-queue/export';
import type { Distribution } from '../../bench/src/measure/percentiles.js';
import { nativeCodec } from '../../lib/message/codec/native-codec.js';
import { nativeKeys } from '../../lib/store/native/native-keys.js';
import { NativeMessageStore } from '../../lib/store/native/native-store.js';
import { RedisConnections } from '../../lib/redis/redis-connections.js';
import { systemClock } from '../../lib/timing/clock.js';
import { LoggedEvents } from '../support/logged-events.js';
import { sharedRedisUrl } from '../support/redis/shared-redis.js';
import { Scene } from '../support/scene.js';
import { until } from '../support/until.js';
import { PingWatch } from './ping-watch.js';

const MILLION = 1_000_000;
const HANDLED = 200_000;
const BATCH = 1000;
const PAYLOAD = 'x'.repeat(200);
const DUE = 9e12;

/** How much more memory the process may use after the first tenth, MB. The lines of a million messages have about 300 MB. */
const MAX_GROWTH = 100;
/** The maximum time of 99 of 100 pings to Redis meanwhile, ms. */
const PING_P99 = 20;

/** How many times as long everything takes because the machine does other work. */
const overload = () => Math.max(1, loadavg()[0]! / availableParallelism());

/** Passes lines on, and notes how the memory of the process grows after the first tenth. */
class Growth {
  #first = 0;
  #highest = 0;
  #count = 0;

  constructor(private readonly lines: number) {}

  async *watch(lines: AsyncIterable<string>): AsyncGenerator<string> {
    for await (const line of lines) {
      this.#count++;
      if (this.#count % 20_000 === 0) this.#note();
      yield line;
    }
  }

  #note(): void {
    const used = process.memoryUsage().rss / 1e6;
    this.#highest = Math.max(this.#highest, used);
    if (this.#count === this.lines / 10) this.#first = this.#highest;
  }

  get megabytes(): number {
    return this.#highest - this.#first;
  }
}

async function report(what: string, lines: number, work: (growth: Growth) => Promise<void>): Promise<void> {
  const [growth, pings] = [new Growth(lines), await PingWatch.start(sharedRedisUrl())];
  const startedAt = performance.now();
  await work(growth);
  const seconds = (performance.now() - startedAt) / 1000;
  const [{ p99 }] = (await pings.stop()) as [Distribution];
  console.log(
    `${what}: ${seconds.toFixed(1)} s, memory grew by ${growth.megabytes.toFixed(0)} MB, pings p99 ${p99.toFixed(1)} ms`,
  );
  expect(growth.megabytes).toBeLessThan(MAX_GROWTH);
  expect(p99).toBeLessThan(PING_P99 * overload());
}

describe(`moving ${MILLION} messages of 200 bytes`, () => {
  const scene = new Scene({});
  const queue = scene.newQueue();
  let target = '';
  let exporter: DelayQueueExporter;
  let digest = '';

  beforeAll(async () => {
    const common = { clock: systemClock, events: new LoggedEvents() };
    const connections = new RedisConnections({
      ...{ connection: scene.url, ...common, commandTimeout: 60_000, heartbeat: 60_000 },
    });
    const limits = { attempts: 3, maxDeadLetters: 1, maxMessages: null };
    const store = new NativeMessageStore(connections, { keys: nativeKeys(scene.prefix, queue), limits });
    const body = nativeCodec.encode({ type: '', payload: PAYLOAD, headers: {} });
    for (let first = 0; first < MILLION; first += BATCH) {
      const numbers = Array.from({ length: BATCH }, (_, i) => first + i);
      await store.offer(
        numbers.map((n) => ({ id: `id-${n}`, due: { at: DUE + n }, onDuplicate: 'keep' as const, body })),
      );
    }
    await store.pause();
    await connections.close();
  });

  async function start(): Promise<DelayQueueExporter> {
    const { context } = await scene.startApp({ module: { consume: false }, providers: [DelayQueueExporter] });
    return context.get(DelayQueueExporter);
  }

  test('an export takes constant memory, and no call keeps others waiting', async () => {
    exporter = await start();
    await report('export', MILLION, async (growth) => {
      let last = '';
      for await (const line of growth.watch(exporter.exportQueue(queue))) last = line;
      const end = JSON.parse(last) as { messages: number; digest: string; inUse: boolean };
      expect(end).toMatchObject({ messages: MILLION, inUse: false });
      ({ digest } = end);
    });
  });

  test('an import takes constant memory, and the digests are equal', async () => {
    exporter = await start();
    target = scene.newQueue();
    await report('export and import', MILLION, async (growth) => {
      const input = Readable.from(exporter.exportQueue(queue));
      const imported = await exporter.importQueue(target, growth.watch(createInterface({ input })));
      expect(imported).toMatchObject({ messages: MILLION, created: MILLION, digest });
    });
    let last = '';
    for await (const line of exporter.exportQueue(target)) last = line;
    expect(JSON.parse(last)).toMatchObject({ messages: MILLION, digest });
  });

  test('a repeated import keeps everything', async () => {
    exporter = await start();
    await report('repeated import', MILLION, async (growth) => {
      const input = Readable.from(exporter.exportQueue(queue));
      const imported = await exporter.importQueue(target, growth.watch(createInterface({ input })));
      expect(imported).toMatchObject({ created: 0, kept: MILLION });
    });
  });
});

describe(`moving what a queue remembers of ${HANDLED} messages`, () => {
  const scene = new Scene({});
  const [queue, target] = [scene.newQueue(), scene.newQueue()];
  const past = { history: { for: '1h', max: HANDLED, payloads: true }, idsFor: { for: '1h', max: HANDLED } } as const;

  class Handler {
    @DelayedHandler(queue, { concurrency: 100 })
    handle() {
      // Returns at once.
    }
  }

  beforeAll(async () => {
    const worker = await scene.startApp({ module: { queues: { [queue]: past } }, providers: [Handler] });
    for (let first = 0; first < HANDLED; first += BATCH) {
      await worker.producer.offerMany(
        queue,
        Array.from({ length: BATCH }, (_, i) => ({ id: `id-${first + i}`, payload: PAYLOAD, delay: 0 })),
      );
    }
    await until(async () => Object.values(await worker.producer.counts(queue)).every((count) => count === 0));
    await worker.producer.pause(queue);
    await worker.context.close();
  });

  test('an export and an import take constant memory, no call keeps others waiting, and the digests are equal', async () => {
    const { context } = await scene.startApp({ module: { consume: false }, providers: [DelayQueueExporter] });
    const exporter = context.get(DelayQueueExporter);
    let digest = '';
    await report('export and import of the past', 2 * HANDLED, async (growth) => {
      const input = Readable.from(exporter.exportQueue(queue));
      const imported = await exporter.importQueue(target, growth.watch(createInterface({ input })));
      expect(imported).toMatchObject({ messages: 0, entries: HANDLED, ids: HANDLED, dropped: 0 });
      ({ digest } = imported);
    });
    let last = '';
    for await (const line of exporter.exportQueue(target)) last = line;
    expect(JSON.parse(last)).toMatchObject({ messages: 0, digest });
  });
});
