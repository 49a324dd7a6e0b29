import { describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DelayQueueProducer } from '../../lib/index.js';
import { CommandCount } from '../support/command-count.js';
import { Handled } from '../support/handled.js';
import { isEmpty } from '../support/is-empty.js';
import { Scene } from '../support/scene.js';
import { callsOf } from '../support/tcp-proxy/filters.js';
import { Proxies } from '../support/tcp-proxy/proxies.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';
import { TimerFloor } from '../support/timer-floor.js';

const INTERVAL = 10;
const LEASE = 1000;
/** The promise is 1.2; on a busy machine, late timers let standbys fire too. Without standbys it would be 3. */
const MAX_EXTRA_CALLS = 1.5;

describe('many processes that handle one queue', () => {
  const scene = new Scene({});
  const proxies = new Proxies(scene);

  async function offerFor(duration: number, producer: DelayQueueProducer, queue: string): Promise<string[]> {
    const ids: string[] = [];
    const start = performance.now();
    for (let at = start; at < start + duration; at += INTERVAL) {
      await sleep(Math.max(0, at - performance.now()));
      ids.push((await producer.offer(queue, null, 200)).id);
    }
    return ids;
  }

  /** Server calls with the given number of schedulers, including those inside scripts. */
  async function countCalls(schedulers: number) {
    const queue = scene.newQueue();
    const handled = new Handled();
    const { producer } = await scene.startApp({ module: { consume: false } });
    const provider = handlerOf(queue, handled.record);
    const apps = await Promise.all(
      Array.from({ length: schedulers }, () => scene.startApp({ module: { heartbeat: false }, providers: [provider] })),
    );
    // Long enough for all but one to step back.
    await offerFor(1000, producer, queue);
    const count = await CommandCount.start(scene.redis);
    const ids = await offerFor(2000, producer, queue);
    await until(() => ids.every((id) => handled.of(id).length > 0));
    const calls = await count.stop();
    expect(new Set(handled.ids).size).toBe(handled.calls.length);
    await Promise.all(apps.map((app) => app.close()));
    const all = Object.values(calls).reduce((sum, number) => sum + number, 0);
    // A busy machine moves several messages at a time, which saves calls for any number of schedulers.
    return { aMessage: all / ids.length, aMove: all / calls.zremrangebyrank! };
  }

  test('need at most 1.5 times as many server calls per transfer with 5 or 20 processes as with one', async () => {
    const [one, five, twenty] = [await countCalls(1), await countCalls(5), await countCalls(20)];
    for (const [unit, ...calls] of [
      ['message', one.aMessage, five.aMessage, twenty.aMessage],
      ['move', one.aMove, five.aMove, twenty.aMove],
    ] as const) {
      console.log(`server calls a ${unit} with 1, 5, 20 schedulers: ${calls.map((n) => n.toFixed(1)).join(', ')}`);
    }
    expect(five.aMove / one.aMove).toBeLessThanOrEqual(MAX_EXTRA_CALLS);
    expect(twenty.aMove / one.aMove).toBeLessThanOrEqual(MAX_EXTRA_CALLS);
  });

  test('handle each message on time, and replace a killed eager scheduler within 2 s', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    const processes = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const proxy = await proxies.start();
        const worker = await scene.startWorker({ queue, handler: { lease: LEASE }, module: { connection: proxy.url } });
        return { worker, transfers: proxy.watch(callsOf('transfer')) };
      }),
    );
    const floor = new TimerFloor();
    const before = await offerFor(4000, producer, queue);
    const [eager, ...standbys] = processes.sort((a, b) => b.transfers.count - a.transfers.count);
    const transfers = processes.map(({ transfers: { count } }) => count);
    const during = await offerFor(500, producer, queue);
    const killedAt = performance.now();
    const [after] = await Promise.all([offerFor(2000, producer, queue), eager!.worker.end('SIGKILL')]);
    const offered = [...before, ...during, ...after];
    const starts = () => processes.flatMap(({ worker }) => worker.of('start'));
    const missing = () => {
      const ended = new Set(processes.flatMap(({ worker }) => worker.of('end')).map(({ id }) => id));
      return offered.filter((id) => !ended.has(id));
    };
    await until(() => missing().length === 0, { within: 10_000, every: 50 });
    await until(() => isEmpty(producer, queue));

    const late = starts()
      .filter(({ attempt }) => attempt === 1)
      .map((start) => start.late);
    const again = starts().filter(({ attempt }) => attempt > 1);
    console.log(
      `transfers of the five: ${transfers.join(', ')}; after the kill at most ${Math.max(...late)} ms late, ` +
        `${again.length} handled again, all done ${Math.round(performance.now() - killedAt)} ms after it; ` +
        `bare timers at most ${floor.stop().most} ms late`,
    );
    expect(standbys.every(({ worker }) => worker.exitCode === null)).toBe(true);
    expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...late)).toBeLessThanOrEqual(2000);
    // Only what the killed process held is repeated, after its lease has ended.
    expect(new Set(starts().map(({ id, attempt }) => `${id} ${attempt}`)).size).toBe(starts().length);
    expect(again.length).toBeLessThanOrEqual(16);
    for (const { late: ms } of again) expect(ms).toBeLessThanOrEqual(LEASE + 2000);
  });
});
