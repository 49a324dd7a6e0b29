import { describe, expect, test } from '@jest/globals';
import type { DelayedMessage, DelayQueueModuleOptions } from '../../lib/index.js';
import { refusalOf } from '../support/refusal.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

/** Short enough for several windows, long enough to notice messages beyond the rate, ms. */
const WINDOW = 600;
/** Claims are counted by the store's clock, handlers begin a little later, ms. */
const BLUR = 150;

describe.each<[string, DelayQueueModuleOptions]>([
  ['Redis', {}],
  ['Redis with partitions', { defaults: { partitions: 3 } }],
  ['memory', { store: 'memory' }],
])('the rate of each group: %s', (_name, module) => {
  const scene = new Scene();

  interface Setting {
    readonly max: number;
    readonly per?: number;
    readonly fails?: (id: string, attempt: number) => boolean;
  }

  async function start({ max, per = WINDOW, fails = () => false }: Setting) {
    const queue = scene.newQueue();
    const begun: { readonly id: string; readonly group: string; readonly at: number; readonly lateness: number }[] = [];
    const handle = (_payload: unknown, { id, group, attempt, lateness }: DelayedMessage) => {
      begun.push({ id, group: group!, at: performance.now(), lateness });
      if (fails(id, attempt)) throw new Error('fails');
    };
    const groups = { rate: { max, per } };
    const options = { ...module, queues: { [queue]: { groups, backoff: { type: 'fixed', delay: 1 } as const } } };
    const { producer } = await scene.startApp({ module: options, providers: [handlerOf(queue, handle)] });
    if (module.store !== 'memory') await scene.startApp({ module: options, providers: [handlerOf(queue, handle)] });
    const offer = (...ids: string[]) =>
      producer.offerMany(
        queue,
        ids.map((id, i) => ({ id, payload: id, delay: 5 + i, group: id[0]! })),
      );
    return { queue, producer, begun, offer };
  }

  test('is kept by all processes together, in order, and holds up no other group', async () => {
    const { begun, offer } = await start({ max: 2 });
    const startedAt = performance.now();
    await offer('a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'c1');
    await until(() => begun.length === 7, { within: 10_000 });
    expect(begun.filter(({ group }) => group === 'a').map(({ id }) => id)).toEqual(['a1', 'a2', 'a3', 'a4', 'a5']);
    for (const { group, at } of begun) {
      const inWindow = begun.filter(
        (other) => other.group === group && other.at >= at && other.at < at + WINDOW - BLUR,
      );
      expect(inWindow.length).toBeLessThanOrEqual(2);
    }
    for (const { group, at } of begun) if (group !== 'a') expect(at - startedAt).toBeLessThan(WINDOW);
    expect(begun.at(-1)!.at - startedAt).toBeGreaterThan(2 * WINDOW - BLUR);
    // Late by the due time that it was offered with.
    expect(begun.find(({ id }) => id === 'a5')!.lateness).toBeGreaterThan(2 * WINDOW - BLUR);
  });

  test('counts retries, and spends no attempts', async () => {
    const { producer, queue, begun, offer } = await start({
      max: 1,
      fails: (id, attempt) => id === 'a1' && attempt === 1,
    });
    await offer('a1', 'a2');
    await until(() => begun.length === 3, { within: 10_000 });
    expect(begun.map(({ id }) => id)).toEqual(['a1', 'a1', 'a2']);
    expect(begun[2]!.at - begun[0]!.at).toBeGreaterThan(2 * WINDOW - BLUR);
    await until(async () => (await producer.counts(queue)).active === 0);
    expect(await producer.counts(queue)).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
  });

  test('shows when a message that waits for it comes back', async () => {
    const per = 60_000;
    const { producer, queue, begun, offer } = await start({ max: 1, per });
    const [, offered] = await offer('a1', 'a2');
    await until(() => begun.length === 1);
    let found = await producer.find(queue, 'a2');
    // Until it has fallen due once, it does not wait for the rate.
    await until(async () => (found = await producer.find(queue, 'a2'))!.dueAt > offered!.dueAt);
    expect(found!.state).toBe('delayed');
    expect(found!.dueAt.getTime() - Date.now()).toBeLessThanOrEqual(per + BLUR);
    expect(await producer.reschedule(queue, 'a2', '1h')).toBe(false);
    expect(await producer.cancel(queue, 'a2')).toBe(true);
  });

  test('refuses a concurrency for which all waiting messages would come back at once', async () => {
    const { producer, queue } = await start({ max: 1 });
    for (const concurrency of ['unlimited', 1001] as const) {
      expect(await refusalOf(producer.group(queue, 'a').setConcurrency(concurrency))).toMatchObject({
        code: 'INVALID_ARGUMENT',
        message: expect.stringContaining(
          'concurrency: must be a whole number from 1 to 1000, because groups have a rate',
        ),
      });
    }
    await producer.group(queue, 'a').setConcurrency(3);
    await producer.group(queue, 'a').setConcurrency('default');
  });
});
