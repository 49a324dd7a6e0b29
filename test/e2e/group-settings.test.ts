import { describe, expect, test } from '@jest/globals';
import type { DelayQueueModuleOptions } from '../../lib/index.js';
import type { GroupOptions } from '../support/of-group.js';
import { Latch } from '../support/latch.js';
import { refusalOf } from '../support/refusal.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

describe.each<[string, DelayQueueModuleOptions]>([
  ['Redis', {}],
  ['Redis with partitions', { defaults: { partitions: 3 } }],
  ['memory', { store: 'memory' }],
])('settings of a group: %s', (_name, module) => {
  const scene = new Scene();

  /** Starts two processes that record what they handle. */
  async function start(groups: GroupOptions, handle: (id: string) => Promise<void> | void = () => undefined) {
    const queue = scene.newQueue();
    const handled: string[] = [];
    const handler = handlerOf(queue, async (_payload, { id }) => {
      await handle(id);
      handled.push(id);
    });
    const options = { ...module, queues: { [queue]: { groups } } };
    const { producer } = await scene.startApp({ module: options, providers: [handler] });
    if (module.store !== 'memory') await scene.startApp({ module: options, providers: [handler] });
    const offer = (...ids: string[]) =>
      producer.offerMany(
        queue,
        ids.map((id, i) => ({ id, payload: id, delay: 20 + i, group: id[0]! })),
      );
    return { queue, handled, producer, offer };
  }

  test('a paused group waits in order while others go on, and continues when it is resumed', async () => {
    const { queue, handled, producer, offer } = await start({ concurrency: 1 });
    const acme = producer.group(queue, 'a');
    await acme.pause();
    await offer('a1', 'b1', 'a2', 'b2', 'a3');
    await until(() => handled.length === 2);
    await until(async () => {
      const { ready, active } = await producer.counts(queue);
      return ready === 3 && active === 0;
    });
    expect(handled).toEqual(['b1', 'b2']);
    expect(await producer.groups(queue)).toMatchObject({
      groups: [{ group: 'a', waiting: 3, holding: 0, paused: true, holders: [] }],
    });
    await acme.resume();
    await until(() => handled.length === 5);
    expect(handled.slice(2)).toEqual(['a1', 'a2', 'a3']);
    await until(async () => (await producer.groups(queue)).groups.length === 0);
  });

  test('a message that expires while its group is paused is not handled afterwards', async () => {
    const { queue, handled, producer, offer } = await start({ concurrency: 1 });
    const acme = producer.group(queue, 'a');
    await acme.pause();
    await producer.offer(queue, 'old', 1, { id: 'a0', group: 'a', expiresAfter: 50 });
    await offer('a1');
    await until(async () => (await producer.counts(queue)).ready === 2);
    const expired = (await producer.find(queue, 'a0'))!.expiresAt!.getTime();
    await until(async () => (await producer.status(queue)).now.getTime() > expired);
    await acme.resume();
    await until(() => handled.length === 1);
    await until(async () => Object.values(await producer.counts(queue)).every((count) => count === 0));
    expect(handled).toEqual(['a1']);
  });

  test('a group handles as many messages at once as its own concurrency allows', async () => {
    const release = new Latch();
    const running = new Set<string>();
    const { queue, handled, producer, offer } = await start({ concurrency: 1 }, async (id) => {
      running.add(id);
      await release.opened;
    });
    await producer.group(queue, 'a').setConcurrency(3);
    await offer('a1', 'b1', 'a2', 'a3', 'a4', 'b2');
    await until(() => running.size === 4);
    await until(async () => (await producer.counts(queue)).ready === 2);
    expect([...running].sort()).toEqual(['a1', 'a2', 'a3', 'b1']);
    expect(await producer.groups(queue)).toMatchObject({
      groups: [
        { group: 'a', waiting: 1, holding: 3, concurrency: 3 },
        { group: 'b', waiting: 1, holding: 1 },
      ],
    });
    await producer.group(queue, 'b').setConcurrency('unlimited');
    await until(() => running.has('b2'));
    release.open();
    await until(() => handled.length === 6);
    await producer.group(queue, 'a').setConcurrency('default');
    await producer.group(queue, 'b').setConcurrency('default');
    await until(async () => (await producer.groups(queue)).groups.length === 0);
  });
});

describe('settings of a group', () => {
  const scene = new Scene();

  test('are checked before anything is sent', async () => {
    const queue = scene.newQueue();
    const queues = { [queue]: { groups: {} } };
    const { producer } = await scene.startApp({ module: { store: 'memory', consume: false, queues } });
    const group = producer.group(queue, 'a');
    for (const value of [0, -1, 1.5, 1_000_001, '3', null, undefined, NaN]) {
      expect(await refusalOf(group.setConcurrency(value as never))).toMatchObject({
        code: 'INVALID_ARGUMENT',
        message: expect.stringMatching(/^concurrency: must be a whole number from 1 to 1,000,000, 'unlimited' or /),
      });
    }
    expect((await producer.groups(queue)).groups).toEqual([]);
  });
});
