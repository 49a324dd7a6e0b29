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
/** How long calls are counted, ms. */
const WINDOW = 30_000;

interface Cost {
  readonly connections: number;
  readonly commands: number;
  readonly calls: Record<string, number>;
}

describe('a process with a family of queues', () => {
  const scene = new Scene({});

  /** Offers to every queue once, and waits until it has been handled and the empty ones are forgotten. */
  async function useOnce(producer: DelayQueueProducer, name: string, queues: number, handled: () => number) {
    for (let i = 0; i < queues; i += 500) {
      const names = Array.from({ length: Math.min(500, queues - i) }, (_, j) => `${name}-${i + j}`);
      await Promise.all(names.map((queue) => producer.offer(queue, null, 0)));
    }
    await until(() => handled() === queues, { within: 120_000, every: 50 });
    const registered = async () =>
      (await scene.redis.hkeys(`${scene.prefix}:{@queues}:registered`)).filter((queue) => queue.startsWith(name));
    await until(async () => (await registered()).length <= BUSY, { within: 2 * REGISTRATION_VALID, every: 500 });
  }

  const connections = async () => String(await scene.redis.client('LIST')).match(/delay-queue:/g)?.length ?? 0;

  async function countCalls(): Promise<Cost> {
    const count = await CommandCount.start(scene.redis);
    await sleep(WINDOW);
    const calls = await count.stop();
    delete calls.client;
    const commands = Object.values(calls).reduce((sum, each) => sum + each, 0);
    return { connections: await connections(), commands, calls };
  }

  /** The cost while a few of the queues are busy, and then while none is. */
  async function measure(queues: number): Promise<{ busy: Cost; idle: Cost }> {
    const name = scene.newQueue();
    let handled = 0;
    const { producer, close } = await scene.startApp({
      providers: [handlerOf(`${name}-*`, () => void handled++, { lease: '5s' })],
    });
    await useOnce(producer, name, queues, () => handled);

    let enough = false;
    const offering = Array.from({ length: BUSY }, async (_, i) => {
      for (; !enough; await sleep(PACE)) await producer.offer(`${name}-${i}`, null, 100);
    });
    await sleep(20_000);
    const busy = await countCalls();
    enough = true;
    await Promise.all(offering);
    await until(async () => !String(await scene.redis.client('LIST')).includes('delay-queue:doorbell'), {
      within: 60_000,
      every: 500,
    });
    const idle = await countCalls();
    await close();
    return { busy, idle };
  }

  test('costs as much with 10,000 queues, 10 of them busy, as with these 10 alone, and nearly nothing while all are empty', async () => {
    const [few, many] = [await measure(BUSY), await measure(MANY)];
    for (const [queues, costs] of [
      [BUSY, few],
      [MANY, many],
    ] as const) {
      for (const [state, { connections, commands, calls }] of Object.entries<Cost>({ ...costs })) {
        console.log(
          `${queues} queues, ${state}: ${connections} connections, ${commands} commands in ${WINDOW / 1000} s: ${JSON.stringify(calls)}`,
        );
      }
    }
    // For commands, for announcements, and for the doorbells of all busy queues.
    expect(few.busy.connections).toBe(3);
    expect(many.busy.connections).toBe(few.busy.connections);
    expect(many.busy.commands / few.busy.commands).toBeLessThan(1.05);
    expect(many.idle.commands).toBeLessThanOrEqual(6);
  }, 900_000);
});
