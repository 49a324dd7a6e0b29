import { describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandCount } from '../support/command-count.js';
import { handlerOf } from '../support/test-app.js';
import { Scene } from '../support/scene.js';

const MESSAGES = 100_000;
/** The number of commands that a heartbeat's function runs, of which `HSET` is one. */
const IN_A_HEARTBEAT = 5;
/** A little longer than the 25 s of a ping and of a blocked wait, so that it contains one of each. */
const WINDOW = 26_000;

describe('an idle process', () => {
  const scene = new Scene({});

  test('calls Redis at most once in 4 s on average, and sends a heartbeat every 10 s, with 100,000 messages due in an hour', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ providers: [handlerOf(queue, () => undefined)] });
    await scene.startApp({ providers: [handlerOf(queue, () => undefined)] });
    await producer.offerMany(
      queue,
      Array.from({ length: MESSAGES }, (_, i) => ({ payload: i, delay: '1h' })),
    );
    expect(await producer.counts(queue)).toMatchObject({ delayed: MESSAGES });

    const count = await CommandCount.start(scene.redis);
    await sleep(WINDOW);
    const calls = await count.stop();

    console.log(`two idle processes called in ${WINDOW / 1000} s: ${JSON.stringify(calls)}`);
    const { hset: heartbeats = 0 } = calls;
    const total = Object.values(calls).reduce((sum, number) => sum + number, 0);
    expect(total - IN_A_HEARTBEAT * heartbeats).toBeLessThanOrEqual((2 * WINDOW) / 4000);
    expect(heartbeats).toBeGreaterThanOrEqual(4);
    expect(heartbeats).toBeLessThanOrEqual(6);
    expect(Object.keys(calls)).toContain('blpop');
  });
});
