import { describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandCount } from '../support/command-count.js';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const MESSAGES = 5;
/** Longer than standbys wait, ms. */
const APART = 1600;

describe('single messages of a queue handled by many processes', () => {
  const scene = new Scene({});

  /** Server calls per message, including those inside scripts, but without those of idle processes. */
  async function countCalls(processes: number): Promise<number> {
    const queue = scene.newQueue();
    const handled = new Handled();
    const { producer } = await scene.startApp({ module: { consume: false } });
    const provider = handlerOf(queue, handled.record);
    const apps = await Promise.all(
      Array.from({ length: processes }, () => scene.startApp({ module: { heartbeat: false }, providers: [provider] })),
    );
    const handleOne = async () => {
      const { id } = await producer.offer(queue, null, 100);
      await until(() => handled.of(id).length > 0);
      await sleep(APART);
    };
    const countOver = async (task: () => Promise<void>) => {
      const count = await CommandCount.start(scene.redis);
      const began = performance.now();
      await task();
      const took = performance.now() - began;
      const calls = Object.values(await count.stop()).reduce((sum, number) => sum + number, 0);
      return { calls, took };
    };
    // By then all but one have stepped back.
    for (let i = 0; i < 2; i++) await handleOne();
    const busy = await countOver(async () => {
      for (let i = 0; i < MESSAGES; i++) await handleOne();
    });
    const idle = await countOver(() => sleep(APART));
    await Promise.all(apps.map((app) => app.close()));
    return (busy.calls - idle.calls * (busy.took / idle.took)) / MESSAGES;
  }

  test('cost the server at most 10% more calls with 10 or 50 processes than with one', async () => {
    const [one, ten, fifty] = [await countCalls(1), await countCalls(10), await countCalls(50)];
    console.log(
      `server calls per message with 1, 10, 50 processes: ${[one, ten, fifty].map((n) => n.toFixed(1)).join(', ')}`,
    );
    expect(ten / one).toBeLessThanOrEqual(1.1);
    expect(fifty / one).toBeLessThanOrEqual(1.1);
  });
});
