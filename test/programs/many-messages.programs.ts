import { describe, expect, test } from '@jest/globals';
import { isEmpty } from '../support/is-empty.js';
import { Scene } from '../support/scene.js';
import { TimerFloor } from '../support/timer-floor.js';
import { until } from '../support/until.js';

const MESSAGES = 10_000;
const MAX_DELAY = 5000;

/**
 * How much later than the latest bare timer of this process 99 of 100 messages may be, ms. A quiet machine needs less than 20;
 * on a busy one, the processes on a message's way wait for a processor one after the other.
 */
const LATENESS_ABOVE_FLOOR = 150;
const TIMES_FLOOR = 4;

describe('many messages in two processes', () => {
  const scene = new Scene();

  test('are each handled once and never early, and 99% of them soon after they are due', async () => {
    const queue = scene.newQueue();
    const settings = { queue, handler: { concurrency: 16 }, quiet: true };
    const workers = await Promise.all([scene.startWorker(settings), scene.startWorker(settings)]);
    const { producer } = await scene.startApp({ module: { consume: false } });

    const floor = new TimerFloor();
    const offers = Array.from({ length: MESSAGES }, () => ({
      payload: null,
      delay: Math.floor(Math.random() * (MAX_DELAY + 1)),
    }));
    const results = await producer.offerMany(queue, offers);
    const ended = () => workers.flatMap((worker) => worker.of('end'));
    await until(() => workers.reduce((sum, worker) => sum + worker.entries.length, -2) >= MESSAGES, {
      within: 90_000,
      every: 100,
    });
    await until(() => isEmpty(producer, queue));
    const bareTimers = floor.stop();

    const lateness = ended()
      .map(({ late }) => late)
      .sort((a, b) => a - b);
    const percentile = (p: number): number => lateness[Math.ceil(lateness.length * p) - 1] ?? NaN;
    const figures =
      `p50 ${percentile(0.5)}, p99 ${percentile(0.99)}, most ${percentile(1)} ms late; ` +
      `bare timers p99 ${bareTimers.p99}, most ${bareTimers.most} ms; ` +
      `shares ${workers.map((worker) => worker.of('end').length).join(' + ')}`;
    console.log(figures);

    expect(new Set(ended().map(({ id }) => id))).toEqual(new Set(results.map(({ id }) => id)));
    expect(ended()).toHaveLength(MESSAGES);
    expect(ended().every(({ attempt }) => attempt === 1)).toBe(true);
    expect(lateness[0]).toBeGreaterThanOrEqual(0);
    expect(percentile(0.99)).toBeLessThanOrEqual(TIMES_FLOOR * bareTimers.most + LATENESS_ABOVE_FLOOR);
  });
});
