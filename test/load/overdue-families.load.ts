import { describe, expect, test } from '@jest/globals';
import type { DelayQueueProducer } from '../../lib/index.js';
import { CommandCount } from '../support/command-count.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const QUEUES = 2000;
/** The number of concurrent offers. */
const AT_ONCE = 64;

interface Effort {
  /** ms. */
  readonly wall: number;
  /** Of this process, ms. */
  readonly cpu: number;
}

describe('a family with an overdue message in each of 2,000 queues', () => {
  const scene = new Scene({});

  async function measure(task: () => Promise<void>): Promise<Effort> {
    const [began, cpu] = [performance.now(), process.cpuUsage()];
    await task();
    const { user, system } = process.cpuUsage(cpu);
    return { wall: performance.now() - began, cpu: (user + system) / 1000 };
  }

  async function offerAll(producer: DelayQueueProducer, name: string): Promise<void> {
    for (let i = 0; i < QUEUES; i += AT_ONCE) {
      const names = Array.from({ length: Math.min(AT_ONCE, QUEUES - i) }, (_, j) => `${name}-${i + j}`);
      await Promise.all(names.map((queue) => producer.offer(queue, null, 0)));
    }
  }

  const connections = async () => String(await scene.redis.client('LIST')).match(/name=delay-queue:/g)?.length ?? 0;

  test('handles them all with fewer than four script calls per queue, over at most eight connections', async () => {
    const name = scene.newQueue();
    const clerk = await scene.startApp({ module: { consume: false } });
    await offerAll(clerk.producer, scene.newQueue());
    const offering = await measure(() => offerAll(clerk.producer, name));
    await clerk.close();

    let handled = 0;
    let most = 0;
    const count = await CommandCount.start(scene.redis);
    const handling = await measure(async () => {
      await scene.startApp({ providers: [handlerOf(`${name}-*`, () => void handled++)] });
      await until(
        async () => {
          most = Math.max(most, await connections());
          return handled === QUEUES;
        },
        { within: 300_000, every: 250 },
      );
    });
    const calls = await count.stop();
    const scripts = (calls.evalsha ?? 0) + (calls.eval ?? 0);
    const show = ({ wall, cpu }: Effort) =>
      `${Math.round(QUEUES / (wall / 1000))} queues/s, ${Math.round((100 * cpu) / wall)} % of a processor`;
    console.log(
      `offering: ${show(offering)}; handling: ${show(handling)}; of the processor, handling to offering: ` +
        `${(handling.cpu / offering.cpu).toFixed(2)}; ${most} connections; ${scripts / QUEUES} scripts a queue`,
    );
    // Workers that stay at their queues need six scripts, and a connection for each 64 of them, besides those for commands and for
    // announcements. On a busy machine a few visits become stays.
    expect(most).toBeLessThanOrEqual(8);
    expect(scripts / QUEUES).toBeLessThan(4);
  }, 600_000);
});
