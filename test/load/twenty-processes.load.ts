import { describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandCount } from '../support/command-count.js';
import { Scene } from '../support/scene.js';
import { until } from '../support/until.js';
import type { WorkerProcess } from '../support/worker/worker-process.js';

const PROCESSES = 20;
/** The number of processes that are started at a time. */
const GROUP = 4;
const INTERVAL = 10;
const MESSAGES = 400;
/** The promise is 1.2; on a busy machine, late timers let standbys fire too. Without standbys it would be 3. */
const MAX_EXTRA_CALLS = 1.5;

describe('twenty processes that handle one queue', () => {
  const scene = new Scene({});

  test('handle each message once, with at most 1.5 times the server calls per transfer of a single process', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    const workers: WorkerProcess[] = [await scene.startWorker({ queue, quiet: true })];
    const offered: string[] = [];
    const ended = () => workers.flatMap((worker) => worker.of('end')).map(({ id }) => id);

    /** Offers at a steady pace, and waits until everything is handled. */
    async function flow(): Promise<void> {
      const start = performance.now();
      for (let i = 0; i < MESSAGES; i++) {
        await sleep(Math.max(0, start + i * INTERVAL - performance.now()));
        offered.push((await producer.offer(queue, null, 200)).id);
      }
      await until(() => ended().length >= offered.length, { within: 30_000, every: 50 });
    }

    /** Server calls, including those inside scripts; a busy machine saves some by moving several messages at a time. */
    async function countCalls() {
      await flow();
      const count = await CommandCount.start(scene.redis);
      await flow();
      const calls = await count.stop();
      const all = Object.values(calls).reduce((sum, number) => sum + number, 0);
      return { aMessage: all / MESSAGES, aMove: all / calls.zremrangebyrank! };
    }

    const one = await countCalls();
    while (workers.length < PROCESSES) {
      const group = Math.min(GROUP, PROCESSES - workers.length);
      workers.push(
        ...(await Promise.all(Array.from({ length: group }, () => scene.startWorker({ queue, quiet: true })))),
      );
    }
    const twenty = await countCalls();
    const shares = workers.map((worker) => worker.of('end').length);
    console.log(
      `server calls per message with 1 process ${one.aMessage.toFixed(1)}, with ${PROCESSES} ${twenty.aMessage.toFixed(1)}; ` +
        `a move of messages ${one.aMove.toFixed(1)} and ${twenty.aMove.toFixed(1)}; shares ${shares.join(', ')}`,
    );
    expect(ended().sort()).toEqual(offered.sort());
    expect(shares.filter((share) => share > 0).length).toBeGreaterThan(1);
    expect(twenty.aMove / one.aMove).toBeLessThanOrEqual(MAX_EXTRA_CALLS);
  }, 300_000);
});
