import { describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { isEmpty } from '../support/is-empty.js';
import { Scene } from '../support/scene.js';
import { until } from '../support/until.js';
import type { Task } from '../support/worker/worker-settings.js';

const PROCESSES = 3;
const OFFERS_BETWEEN = 300;
/** The time between two offers, ms. */
const PACE = 5;
/** How many messages are offered at a time: more than the process whose scheduler is eager takes for itself, so that all have work. */
const AT_A_TIME = 3;

describe('a rolling restart under load', () => {
  const scene = new Scene();

  test('handles each message once without spending an attempt, although every process gets SIGTERM while busy', async () => {
    const queue = scene.newQueue();
    const settings = { queue, module: { shutdownTimeout: '30s' } };
    const { producer } = await scene.startApp({ module: { consume: false } });
    const running = await Promise.all(Array.from({ length: PROCESSES }, () => scene.startWorker(settings)));
    const all = [...running];
    const offered: string[] = [];
    let enough = false;
    const offering = (async () => {
      const task: Task = { do: 'work', ms: 40 };
      const offers = Array.from({ length: AT_A_TIME }, () => ({ payload: task, delay: 50 }));
      for (; !enough; await sleep(PACE)) {
        for (const { id } of await producer.offerMany(queue, offers)) offered.push(id);
      }
    })();

    for (let i = 0; i < PROCESSES; i++) {
      const target = offered.length + OFFERS_BETWEEN;
      await until(() => offered.length >= target, { within: 20_000 });
      // At work means that more of its handlers have started than ended.
      await until(() => running[i]!.of('start').length > running[i]!.of('end').length, { within: 20_000 });
      const [next] = await Promise.all([scene.startWorker(settings), running[i]!.end('SIGTERM')]);
      all.push(next);
    }
    enough = true;
    await offering;
    await until(() => isEmpty(producer, queue), {
      within: 20_000,
      every: 20,
    });
    const ended = all.flatMap((worker) => worker.of('end'));
    const shares = all.map((worker) => worker.of('end').length);
    console.log(`${offered.length} messages, handled by ${shares.join(', ')}`);

    expect(ended.map(({ id }) => id).sort()).toEqual(offered.sort());
    expect(ended.every(({ attempt }) => attempt === 1)).toBe(true);
    expect(all.flatMap((worker) => worker.of('aborted'))).toEqual([]);
    for (const worker of running) expect(worker.exitCode).toBeNull();
  });
});
