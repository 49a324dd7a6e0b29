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
/** The time for which calls are counted, ms. */
const WINDOW = 30_000;

interface Cost {
  readonly connections: number;
  readonly commands: number;
  readonly calls: Record<string, number>;
}

/** A process that handles a family of queues, on a server of its own. */
interface Family {
  readonly scene: Scene;
  readonly producer: DelayQueueProducer;
  readonly name: string;
}

describe('a process with a family of queues', () => {
  const scenes = { few: new Scene({}), many: new Scene({}) };

  /** Starts a family, offers once to each of its queues, and waits until these messages are handled and the empty queues forgotten. */
  async function start(scene: Scene, queues: number): Promise<Family> {
    const name = scene.newQueue();
    let handled = 0;
    const { producer } = await scene.startApp({
      module: { heartbeat: false },
      providers: [handlerOf(`${name}-*`, () => void handled++, { lease: '5s' })],
    });
    for (let i = 0; i < queues; i += 500) {
      const names = Array.from({ length: Math.min(500, queues - i) }, (_, j) => `${name}-${i + j}`);
      await Promise.all(names.map((queue) => producer.offer(queue, null, 0)));
    }
    await until(() => handled === queues, { within: 120_000, every: 50 });
    const registered = () => scene.redis.hlen(`${scene.prefix}:{@queues}:registered`);
    await until(async () => (await registered()) === 0, { within: 2 * REGISTRATION_VALID, every: 500 });
    return { scene, producer, name };
  }

  async function countCalls({ redis }: Scene): Promise<Cost> {
    const count = await CommandCount.start(redis);
    await sleep(WINDOW);
    const calls = await count.stop();
    delete calls.client;
    const commands = Object.values(calls).reduce((sum, each) => sum + each, 0);
    const connections = String(await redis.client('LIST')).match(/delay-queue:/g)?.length ?? 0;
    return { connections, commands, calls };
  }

  async function countWhileBusy({ scene, producer, name }: Family): Promise<Cost> {
    let enough = false;
    const offering = Array.from({ length: BUSY }, async (_, i) => {
      for (; !enough; await sleep(PACE)) await producer.offer(`${name}-${i}`, null, 100);
    });
    await sleep(20_000);
    const cost = await countCalls(scene);
    enough = true;
    await Promise.all(offering);
    return cost;
  }

  async function countWhileIdle({ scene }: Family): Promise<Cost> {
    await until(async () => !String(await scene.redis.client('LIST')).includes('delay-queue:wake-signals'), {
      within: 60_000,
      every: 500,
    });
    return countCalls(scene);
  }

  test('costs as much with 10,000 queues, 10 of them busy, as with those 10 alone, and almost nothing when idle', async () => {
    // Each has a server of its own, so both are counted at the same time.
    const families = await Promise.all([start(scenes.few, BUSY), start(scenes.many, MANY)]);
    // Before any is busy: a queue that was busy is looked at until it is forgotten.
    const [fewIdle, manyIdle] = (await Promise.all(families.map(countWhileIdle))) as [Cost, Cost];
    const [few, many] = (await Promise.all(families.map(countWhileBusy))) as [Cost, Cost];
    for (const [what, { connections, commands, calls }] of Object.entries({ fewIdle, manyIdle, few, many })) {
      console.log(
        `${what}: ${connections} connections, ${commands} commands in ${WINDOW / 1000} s: ${JSON.stringify(calls)}`,
      );
    }
    // For commands, for announcements, and for the wake-up signals of all busy queues.
    expect(few.connections).toBe(3);
    expect(many.connections).toBe(few.connections);
    expect(many.commands / few.commands).toBeLessThan(1.05);
    expect(manyIdle.commands).toBeLessThanOrEqual(6);
  }, 600_000);
});
