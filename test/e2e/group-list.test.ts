import { describe, expect, test } from '@jest/globals';
import { redisson } from '../../packages/redisson/src/index.js';
import { Latch } from '../support/latch.js';
import { refusalOf } from '../support/refusal.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

describe.each(['redis', 'memory'] as const)('the list of groups in %s', (store) => {
  const scene = new Scene();

  test('shows the longest backlogs first, and what they wait for', async () => {
    const queue = scene.newQueue();
    const release = new Latch();
    const handler = handlerOf(queue, () => release.opened, { concurrency: 8 });
    const queues = { [queue]: { groups: { concurrency: 1 }, partitions: 2 } };
    const { producer } = await scene.startApp({ module: { store, queues }, providers: [handler] });
    const lengths = { a: 3, b: 5, c: 1, d: 2 };
    for (const [group, length] of Object.entries(lengths)) {
      for (let i = 0; i < length; i++) await producer.offer(queue, i, 0, { id: `${group}${i}`, group });
    }
    await producer.offer(queue, 'no group', 0);
    await until(async () => {
      const { ready, active } = await producer.counts(queue);
      return ready === 7 && active === 5;
    });
    expect(await producer.groups(queue)).toEqual({
      groups: [
        { group: 'b', waiting: 4, holding: 1, holders: ['b0'], paused: false },
        { group: 'a', waiting: 2, holding: 1, holders: ['a0'], paused: false },
        { group: 'd', waiting: 1, holding: 1, holders: ['d0'], paused: false },
        { group: 'c', waiting: 0, holding: 1, holders: ['c0'], paused: false },
      ],
      total: 4,
      isComplete: true,
    });
    const { groups, total } = await producer.groups(queue, { limit: 1 });
    expect([groups.map(({ group }) => group), total]).toEqual([['b'], 4]);
    release.open();
    await until(async () => (await producer.groups(queue)).total === 0);
  });
});

describe('the list of groups', () => {
  const scene = new Scene();

  test('needs the option, a layout with groups, and a valid limit', async () => {
    const grouped = scene.newQueue();
    const plain = scene.newQueue();
    const shared = scene.newQueue();
    const queues = { [grouped]: { groups: {} }, [shared]: { layout: redisson() } };
    const { producer } = await scene.startApp({ module: { consume: false, queues } });
    expect(await refusalOf(producer.groups(plain))).toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining(`queue '${plain}' has no groups; set queues`),
    });
    expect(await refusalOf(producer.groups(shared))).toMatchObject({ code: 'UNSUPPORTED_BY_LAYOUT' });
    for (const query of [{ limit: 0 }, { limit: 1001 }, { cursor: 'a' }]) {
      expect(await refusalOf(producer.groups(grouped, query as never))).toMatchObject({ code: 'INVALID_ARGUMENT' });
    }
  });

  test('says that it is not complete if there are too many groups to examine', async () => {
    const queue = scene.newQueue();
    const queues = { [queue]: { groups: { concurrency: 1 } } };
    const { producer } = await scene.startApp({ module: { consume: false, queues } });
    const permits = Array.from({ length: 25_000 }, (_, i) => [`group ${i}`, '1']).flat();
    await scene.redis.hset(scene.key(queue, 'lane:lanes'), ...permits);
    const { groups, total, isComplete } = await producer.groups(queue, { limit: 1000 });
    expect([groups.length, total, isComplete]).toEqual([1000, 25_000, false]);
  });
});
