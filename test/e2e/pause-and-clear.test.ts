import { describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { Handled } from '../support/handled.js';
import { Latch } from '../support/latch.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

describe('pause and clear', () => {
  const scene = new Scene();

  test('a paused queue is not handled by any process, and is handled again as soon as it is resumed', async () => {
    const queue = scene.newQueue();
    const handled = [new Handled(), new Handled()] as const;
    const apps = await Promise.all(
      handled.map(({ record }) => scene.startApp({ providers: [handlerOf(queue, record)] })),
    );
    const [{ producer }, other] = apps as [(typeof apps)[0], (typeof apps)[0]];
    const calls = () => handled[0].calls.length + handled[1].calls.length;

    expect(await other.producer.isPaused(queue)).toBe(false);
    await producer.pause(queue);
    await producer.pause(queue);
    expect(await other.producer.isPaused(queue)).toBe(true);
    await producer.offerMany(
      queue,
      Array.from({ length: 40 }, () => ({ payload: null, delay: 50 })),
    );
    await until(async () => (await producer.counts(queue)).ready === 40);
    // Twice as long as the slowest wake-up.
    await sleep(1500);
    expect(calls()).toBe(0);

    const resumedAt = Date.now();
    await other.producer.resume(queue);
    expect(await producer.isPaused(queue)).toBe(false);
    await until(() => calls() === 40);
    const first = Math.min(...handled.flatMap(({ calls: each }) => each.map(({ at }) => at)));
    // Without a wake-up signal, a consumer would look again after 25 s.
    expect(first - resumedAt).toBeLessThan(3000);
    expect([...handled[0].calls, ...handled[1].calls].every(({ attempt }) => attempt === 1)).toBe(true);
  });

  test('pausing lets running handlers finish', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const release = new Latch();
    const handler = handlerOf(queue, async (payload, message) => {
      handled.record(payload, message);
      await release.opened;
    });
    const { producer } = await scene.startApp({ providers: [handler] });
    await producer.offer(queue, null, 0, { id: 'm' });
    await handled.untilCalls(1);
    await producer.pause(queue);
    release.open();
    await until(async () => (await producer.find(queue, 'm')) === null);
    expect(handled.calls).toHaveLength(1);
  });

  test('clearing removes messages in every state and ignores the outcomes of running handlers', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const release = new Latch();
    const handler = handlerOf<string>(
      queue,
      async (payload, message) => {
        handled.record(payload, message);
        if (payload === 'dies') throw new Error('no');
        if (payload === 'runs') await release.opened;
        if (payload === 'runs') throw new Error('too late');
      },
      { attempts: 1, concurrency: 1 },
    );
    const { producer, log } = await scene.startApp({ providers: [handler] });
    await producer.offer(queue, 'dies', 0);
    await until(async () => (await producer.counts(queue)).dead === 1);
    await producer.offer(queue, 'runs', 0);
    await handled.untilCalls(2);
    await producer.offer(queue, 'ready', 0);
    await until(async () => (await producer.counts(queue)).ready === 1);
    await producer.offer(queue, 'delayed', '1h');
    expect(await producer.counts(queue)).toEqual({ delayed: 1, ready: 1, active: 1, dead: 1 });

    expect(await producer.clear(queue)).toBe(4);
    expect(await producer.counts(queue)).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
    release.open();
    await until(() => log.some((line) => line.includes('lease was lost')));
    expect(await producer.counts(queue)).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });

    await producer.offer(queue, 'after', 0, { id: 'after' });
    await handled.until('after');
    expect(handled.payloads).toEqual(['dies', 'runs', 'after']);
  });
});
