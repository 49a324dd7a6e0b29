import { availableParallelism, loadavg } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Distribution } from '../../bench/src/measure/percentiles.js';
import { CommandCount } from '../support/command-count.js';
import { isEmpty } from '../support/is-empty.js';
import { startRedis } from '../support/redis/start-redis.js';
import type { TestRedis } from '../support/redis/test-redis.js';
import { Scene } from '../support/scene.js';
import { handlerOf, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';
import { PingWatch } from './ping-watch.js';

const MILLION = 1_000_000;
const PENDING = 300_000;
/** The most offers in one call of the script. */
const OFFERED_AT_ONCE = 1000;
/** The maximum time of 99 of 100 answers to another client, ms. */
const PING_P99 = 20;
/**
 * How many times as long as at an idle server, on a machine that is busy with other things too. The factor is large because
 * a process that computes must share the processor, while one that only answers gets it at once.
 */
const TIMES_QUIET = 20;

/** The maximum time of 99 of 100 answers, ms; more if the processors are overloaded. */
function maxAnswerTime(idle: Distribution): number {
  const overload = Math.max(1, loadavg()[0]! / availableParallelism());
  return Math.max(PING_P99, TIMES_QUIET * idle.p99) * overload;
}

describe('a loaded queue', () => {
  const scene = new Scene({});
  let quiet: TestRedis;
  beforeAll(async () => {
    quiet = await startRedis();
  });
  afterAll(() => quiet.stop());

  /** Measures how quickly another client of the server is answered during some work. */
  async function watchPings(what: string, work: () => Promise<unknown>) {
    const watch = await PingWatch.start(scene.url, quiet.url);
    const start = performance.now();
    await work();
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    const [busy, idle] = (await watch.stop()) as [Distribution, Distribution];
    const text = (times: Distribution) =>
      `p50 ${times.p50.toFixed(1)}, p99 ${times.p99.toFixed(1)}, most ${times.max.toFixed(1)} ms`;
    console.log(`${what}: ${seconds} s; PING ${text(busy)}; of a quiet server ${text(idle)} (${busy.count} pings)`);
    return { busy, idle };
  }

  /** Offers as fast as possible; nobody handles the queue yet. */
  async function offerAll({ producer }: TestApp, queue: string, instants: (index: number) => number, count: number) {
    for (let first = 0; first < count; first += OFFERED_AT_ONCE) {
      const indices = Array.from({ length: Math.min(OFFERED_AT_ONCE, count - first) }, (_, i) => first + i);
      await Promise.all(indices.map((i) => producer.offerAt(queue, i, new Date(instants(i)))));
    }
    expect(await producer.counts(queue)).toEqual({ delayed: count, ready: 0, active: 0, dead: 0 });
  }

  /** Handles everything, and expects each message exactly once. */
  async function handleAll(queue: string, count: number): Promise<void> {
    const calls = new Uint8Array(count);
    let handled = 0;
    let repeated = 0;
    const handler = handlerOf<number>(
      queue,
      (index, { attempt }) => {
        handled++;
        calls[index]!++;
        if (attempt > 1) repeated++;
      },
      { concurrency: 1000 },
    );
    const commands = await CommandCount.start(scene.redis);
    const { producer } = await scene.startApp({ providers: [handler] });
    await until(async () => handled >= count && (await isEmpty(producer, queue)), {
      within: 300_000,
      every: 100,
    });
    const all = Object.values(await commands.stop()).reduce((sum, number) => sum + number, 0);
    console.log(`server calls per message, what scripts call included: ${(all / count).toFixed(3)}`);
    expect([handled, repeated, calls.every((times) => times === 1)]).toEqual([count, 0, true]);
  }

  test.each([
    [`${MILLION} messages due at one millisecond`, MILLION, (_index: number) => 0],
    [`${PENDING} messages offered in reverse order of their due times`, PENDING, (index: number) => -index],
  ])(
    'handles %s once each while other clients get prompt replies',
    async (what, count, offset) => {
      const queue = scene.newQueue();
      const app = await scene.startApp({ module: { consume: false } });
      const base = Date.now();
      await watchPings(`offering ${what}`, () => offerAll(app, queue, (index) => base + offset(index), count));
      const { busy, idle } = await watchPings(`handling ${what}`, () => handleAll(queue, count));
      expect(busy.count).toBeGreaterThan(100);
      expect(busy.p50).toBeLessThanOrEqual(PING_P99);
      expect(busy.p99).toBeLessThanOrEqual(maxAnswerTime(idle));
    },
    600_000,
  );
});
