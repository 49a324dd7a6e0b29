import { expect, test } from '@jest/globals';
import { RejectMessage } from '../../lib/index.js';
import { readPage } from '../docs/pages.js';
import { Latch } from '../support/latch.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

/** Keys stay as they are within a major version: this is the list that a change would break. */
const documented = new Map(
  [
    ...(await readPage('docs/internals/storage.md')).matchAll(
      /^\| `delay-queue:\{orders\}:((?:lane:)?[a-z]+(?::(?=`))?)[^`]*` +\| (\w+)/gm,
    ),
  ].map(([, key, type]) => [key!, type!.toLowerCase()]),
);
/** Keys that exist only for a moment, with several partitions, repeats or kept ids, and names that are not keys. */
const RARE = ['ended', 'partitions', 'declared', 'kept', 'wake', 'due'];

const HISTORY = { for: '1h' } as const;

/** Keys with `lane:` before their names have the types of those without, as the page says. */
const typeOf = (key: string) => documented.get(key) ?? documented.get(key.replace(/^lane:/, ''));

const scene = new Scene({});

/** The keys of a queue, as the documentation names them, with their types. */
async function keysOf(queue: string): Promise<(readonly [string, string])[]> {
  const keys = await scene.redis.keys(`*{${queue}}*`);
  return Promise.all(
    keys.map(async (key) => [/\}:((?:lane:)?[a-z]+(?::$)?)/.exec(key)![1]!, await scene.redis.type(key)] as const),
  );
}

test('a queue has exactly the documented keys, with the documented types', async () => {
  const queue = scene.newQueue();
  const end = new Latch();
  const handle = (payload: unknown) => {
    if (payload === 'dead') throw new RejectMessage('dead');
    if (payload === 'retried') throw new Error('once more');
    return payload === 'handled' ? undefined : end.opened;
  };
  const { producer } = await scene.startApp({
    module: {
      queues: {
        [queue]: {
          concurrency: 1,
          rate: { max: 100, per: '1m' },
          backoff: { type: 'fixed', delay: '1h' },
          history: HISTORY,
        },
      },
    },
    providers: [handlerOf(queue, handle)],
  });
  for (const payload of ['handled', 'dead', 'retried']) await producer.offer(queue, payload, 0);
  await until(async () => (await producer.counts(queue)).dead === 1 && (await producer.counts(queue)).delayed === 1);
  for (const payload of ['active', 'ready']) await producer.offer(queue, payload, 0, { id: payload });
  await until(async () => {
    const { active, ready } = await producer.counts(queue);
    return active === 1 && ready === 1;
  });
  await producer.offer(queue, 'follower', 0, { id: 'active', onDuplicate: 'follow' });
  await producer.pause(queue);

  const found = await keysOf(queue);
  end.open();
  expect(found.filter(([key, type]) => documented.get(key) !== type)).toEqual([]);
  const names = found.map(([key]) => key);
  const ofAllQueues = [...documented.keys()].filter((key) => !key.startsWith('lane:'));
  expect(ofAllQueues.filter((key) => !names.includes(key) && !RARE.includes(key))).toEqual([]);
});

test("a history's keys have the same ids, no more than its maximum", async () => {
  const queue = scene.newQueue();
  const { producer } = await scene.startApp({
    module: { queues: { [queue]: { history: { ...HISTORY, max: 2 } } } },
    providers: [handlerOf(queue, () => undefined)],
  });
  for (const id of ['a', 'b', 'c', 'd']) {
    await producer.offer(queue, 1, 0, { id });
    await until(async () => (await producer.find(queue, id, { handled: true }))?.state === 'handled');
  }
  const [handled] = await scene.redis.keys(`*{${queue}}:handled`);
  const [history] = await scene.redis.keys(`*{${queue}}:history`);
  expect(await scene.redis.zrange(handled!, '0', '-1')).toEqual(['d', 'c']);
  expect((await scene.redis.hkeys(history!)).sort()).toEqual(['c', 'd']);
});

test('a queue that keeps ids has the documented keys, with the documented types', async () => {
  const queue = scene.newQueue();
  const { producer } = await scene.startApp({
    module: { queues: { [queue]: { idsFor: { for: '1h' }, groups: {} } } },
    providers: [handlerOf(queue, () => undefined)],
  });
  await producer.offer(queue, null, 0);
  await producer.offer(queue, null, 0, { group: 'one' });
  const ofIds = async () => (await keysOf(queue)).filter(([key]) => /^(lane:)?kept$/.test(key)).sort();
  await until(async () => (await ofIds()).length === 2);
  expect(await ofIds()).toEqual(['kept', 'lane:kept'].map((key) => [key, typeOf(key)]));
});

test('messages with groups have exactly the documented keys, with the documented types', async () => {
  const queue = scene.newQueue();
  const end = new Latch();
  const handle = (payload: unknown) => {
    if (payload === 'dead') throw new RejectMessage('dead');
    if (payload === 'retried') throw new Error('once more');
    return payload === 'handled' ? undefined : end.opened;
  };
  const { producer } = await scene.startApp({
    module: {
      queues: {
        [queue]: {
          groups: { rate: { max: 100, per: '1m' } },
          backoff: { type: 'fixed', delay: '1h' },
          history: HISTORY,
        },
      },
    },
    providers: [handlerOf(queue, handle)],
  });
  const offer = (payload: string, group: string) => producer.offer(queue, payload, 0, { id: payload, group });
  await offer('handled', 'one');
  await offer('dead', 'one');
  await offer('retried', 'two');
  await until(async () => (await producer.counts(queue)).dead === 1 && (await producer.counts(queue)).delayed === 1);
  await offer('active', 'three');
  await offer('in line', 'three');
  await until(async () => {
    const { active, ready } = await producer.counts(queue);
    return active === 1 && ready === 1;
  });
  await producer.offer(queue, 'follower', 0, { id: 'active', onDuplicate: 'follow', group: 'three' });
  await producer.group(queue, 'five').pause();
  await producer.pause(queue);
  await offer('ready', 'four');
  await until(async () => (await producer.counts(queue)).ready === 2);

  const found = await keysOf(queue);
  end.open();
  expect(found.filter(([key, type]) => typeOf(key) !== type)).toEqual([]);
  const names = found.map(([key]) => key);
  const [without, own] = [/^(rate|paused|partitions)$/, (key: string) => key.startsWith('lane:')];
  const expected = [...documented.keys()].map((key) => (own(key) || without.test(key) ? key : `lane:${key}`));
  const rare = [...[...RARE, 'awaited'].map((key) => `lane:${key}`), ...RARE, 'rate'];
  expect(expected.filter((key) => !names.includes(key) && !rare.includes(key))).toEqual([]);
});
