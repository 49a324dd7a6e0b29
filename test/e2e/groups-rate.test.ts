import { describe, expect, test } from '@jest/globals';
import type { DelayedMessage, DelayQueueModuleOptions } from '../../lib/index.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

/** Short enough for several windows, long enough to notice messages beyond the rate. */
const WINDOW = 1000;
/** Claims are counted by Redis' clock, handlers begin a little later. */
const BLUR = 200;

describe.each<[string, DelayQueueModuleOptions, number]>([
  ['Redis', {}, 2],
  ['memory', { store: 'memory' }, 1],
])('a queue with groups and a rate: %s', (_name, module, apps) => {
  const scene = new Scene();

  async function start() {
    const queue = scene.newQueue();
    const begun: { group: string | undefined; at: number }[] = [];
    const handle = (_payload: unknown, { group }: DelayedMessage) => void begun.push({ group, at: performance.now() });
    const options = { ...module, queues: { [queue]: { groups: {}, rate: { max: 4, per: WINDOW } } } };
    const started: Awaited<ReturnType<Scene['startApp']>>[] = [];
    for (let i = 0; i < apps; i++) {
      started.push(await scene.startApp({ module: options, providers: [handlerOf(queue, handle)] }));
    }
    const offer = (count: number, group?: (i: number) => string) =>
      started[0]!.producer.offerMany(
        queue,
        Array.from({ length: count }, (_, i) => ({ payload: i, delay: 0, ...(group && { group: group(i) }) })),
      );
    return { begun, offer };
  }

  test('never exceeds its rate for messages with and without groups combined, and handles them all', async () => {
    const { begun, offer } = await start();
    await Promise.all([offer(10), offer(10, (i) => `customer ${i % 3}`)]);
    await until(() => begun.length === 20, { within: 12_000 });
    for (const { at } of begun) {
      const inWindow = begun.filter((other) => other.at >= at && other.at < at + WINDOW - BLUR);
      expect(inWindow.length).toBeLessThanOrEqual(4);
    }
    expect(begun.filter(({ group }) => group !== undefined)).toHaveLength(10);
  });

  test('handles messages with groups at its full rate if there are no others', async () => {
    const { begun, offer } = await start();
    await offer(10, (i) => `customer ${i}`);
    await until(() => begun.length === 10, { within: 8000 });
    const took = begun.at(-1)!.at - begun[0]!.at;
    expect(took).toBeGreaterThan(2 * WINDOW - BLUR);
    expect(took).toBeLessThan(4 * WINDOW);
  });
});
