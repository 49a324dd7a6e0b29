import { describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DelayQueueProducer } from '../../lib/index.js';
import { REGISTRATION_VALID } from '../../lib/store/queue-directory.js';
import { CommandCount } from '../support/command-count.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const BUSY = 10;
const MANY = 10_000;
/** The time between two messages of a busy queue, ms. */
const PACE = 1000;
const MINUTE = 60_000;

interface Cost {
  readonly connections: number;
  readonly commands: number;
  readonly calls: Record<string, number>;
}

describe('a process with a family of queues', () => {
  const scene = new Scene({});

  /** Offers to every queue once, and waits until it has been handled and the empty ones are forgotten. */
  async function useOnce(producer: DelayQueueProducer, name: string, queues: number, handled: () => number) {
    const before = handled();
    for (let i = 0; i < queues; i += 500) {
      const names = Array.from({ length: Math.min(500, queues - i) }, (_, j) => `${name}-${i + j}`);
      await Promise.all(names.map((queue) => producer.offer(queue, null, 0)));
    }
    await until(() => handled() - before === queues, { within: 120_000, every: 50 });
    const registered = async () =>
      (await scene.redis.hkeys(`${scene.prefix}:{@queues}:registered`)).filter((queue) => queue.startsWith(name));
    await until(async () => (await registered()).length <= BUSY, { within: 2 * REGISTRATION_VALID, every: 500 });
  }

  async function measure(queues: number): Promise<Cost> {
    const name = scene.newQueue();
    let handled = 0;
    const { producer, close } = await scene.startApp({
      providers: [handlerOf(`${name}-*`, () => void handled++, { lease: '5s' })],
    });
    await useOnce(producer, name, queues, () => handled);

    let enough = false;
    const busy = Array.from({ length: BUSY }, async (_, i) => {
      for (; !enough; await sleep(PACE)) await producer.offer(`${name}-${i}`, null, 100);
    });
    await sleep(20_000);
    const count = await CommandCount.start(scene.redis);
    await sleep(MINUTE);
    const calls = await count.stop();
    const connections = String(await scene.redis.client('LIST')).match(/delay-queue:/g)?.length ?? 0;
    enough = true;
    await Promise.all(busy);
    await close();
    return { connections, commands: Object.values(calls).reduce((sum, each) => sum + each, 0), calls };
  }

  test('costs as much with 10,000 queues, 10 of them busy, as with these 10 alone', async () => {
    const few = await measure(BUSY);
    const many = await measure(MANY);
    for (const [queues, { connections, commands, calls }] of [
      [BUSY, few],
      [MANY, many],
    ] as const) {
      console.log(
        `${queues} queues, ${BUSY} busy: ${connections} connections, ${commands} commands a minute: ${JSON.stringify(calls)}`,
      );
    }
    // For commands, for announcements, and for the doorbells of all busy queues.
    expect(few.connections).toBe(3);
    expect(many.connections).toBe(few.connections);
    expect(many.commands / few.commands).toBeLessThan(1.05);
  }, 900_000);

  test('sends no more than six commands a minute while all of 10,000 queues are empty', async () => {
    const name = scene.newQueue();
    let handled = 0;
    const { producer } = await scene.startApp({ providers: [handlerOf(`${name}-*`, () => void handled++)] });
    await useOnce(producer, name, MANY, () => handled);
    await until(async () => !String(await scene.redis.client('LIST')).includes('delay-queue:doorbell'), {
      within: MINUTE,
      every: 500,
    });
    const count = await CommandCount.start(scene.redis);
    await sleep(MINUTE);
    const calls = await count.stop();
    console.log(`idle, after ${MANY} queues: ${JSON.stringify(calls)}`);
    delete calls.client;
    expect(Object.values(calls).reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(6);
  }, 900_000);
});
