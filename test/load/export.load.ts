import { availableParallelism, loadavg } from 'node:os';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { DelayQueueExporter } from 'nestjs-delay-queue/export';
import type { Distribution } from '../../bench/src/measure/percentiles.js';
import { nativeCodec } from '../../lib/message/codec/native-codec.js';
import { nativeKeys } from '../../lib/store/native/native-keys.js';
import { NativeMessageStore } from '../../lib/store/native/native-store.js';
import { RedisConnections } from '../../lib/redis/redis-connections.js';
import { systemClock } from '../../lib/timing/clock.js';
import { LoggedEvents } from '../support/logged-events.js';
import { Scene } from '../support/scene.js';
import { PingWatch } from './ping-watch.js';

const MILLION = 1_000_000;
const BATCH = 1000;
const PAYLOAD = 'x'.repeat(200);
const DUE = 9e12;

/** How much more memory the process may use after the first tenth, MB. The lines of a million messages have about 300 MB. */
const MAX_GROWTH = 100;
/** The maximum time of 99 of 100 pings to Redis meanwhile, ms. */
const PING_P99 = 20;

/** How many times as long everything takes because the machine does other work. */
const overload = () => Math.max(1, loadavg()[0]! / availableParallelism());

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

  /** Passes lines on, and notes how the memory of the process grows after the first tenth. */
  class Growth {
    #first = 0;
    #highest = 0;
    #count = 0;

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
      if (this.#count === MILLION / 10) this.#first = this.#highest;
    }

    get megabytes(): number {
      return this.#highest - this.#first;
    }
  }

  async function report(what: string, work: (growth: Growth) => Promise<void>): Promise<void> {
    const [growth, pings] = [new Growth(), await PingWatch.start(scene.url)];
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

  test('an export takes constant memory, and no call keeps others waiting', async () => {
    exporter = await start();
    await report('export', async (growth) => {
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
    await report('export and import', async (growth) => {
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
    await report('repeated import', async (growth) => {
      const input = Readable.from(exporter.exportQueue(queue));
      const imported = await exporter.importQueue(target, growth.watch(createInterface({ input })));
      expect(imported).toMatchObject({ created: 0, kept: MILLION });
    });
  });
});
