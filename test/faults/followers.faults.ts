import { afterAll, describe, expect, test } from '@jest/globals';
import { nativeKeys } from '../../lib/store/native/native-keys.js';
import { NativeMessageStore } from '../../lib/store/native/native-store.js';
import { RedisConnections } from '../../lib/redis/redis-connections.js';
import { systemClock } from '../../lib/timing/clock.js';
import { isEmpty } from '../support/is-empty.js';
import { Latch } from '../support/latch.js';
import { LoggedEvents } from '../support/logged-events.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';
import type { Task } from '../support/worker/worker-settings.js';

const LEASE = 1000;
const FOLLOW = { onDuplicate: 'follow' } as const;
const HOUR = 3_600_000;

describe('a follower', () => {
  const scene = new Scene();
  const opened: RedisConnections[] = [];
  afterAll(() => Promise.all(opened.map((connections) => connections.close())));

  test('is handled once, after the message it follows, even if the process handling that message is killed', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    const settings = { queue, handler: { lease: LEASE, concurrency: 32 } };
    const doomed = await scene.startWorker(settings);
    const ids = Array.from({ length: 20 }, (_, i) => `m${i}`);
    const task: Task = { do: 'work', ms: 60_000, firstAttemptOnly: true };
    await producer.offerMany(
      queue,
      ids.map((id) => ({ payload: task, delay: 0, id })),
    );
    await until(() => doomed.of('start').length === ids.length);
    const offers = ids.map((id) => ({ payload: null, delay: 0, id, ...FOLLOW }));
    expect((await producer.offerMany(queue, offers)).every(({ follows }) => follows)).toBe(true);
    await doomed.end('SIGKILL');
    const heir = await scene.startWorker(settings);
    await until(() => isEmpty(producer, queue));
    for (const id of ids) {
      // The message again, then the one that follows it.
      expect([id, heir.of('end').filter((each) => each.id === id).map(({ attempt }) => attempt)]).toEqual([id, [2, 1]]); // prettier-ignore
    }
    expect(await scene.redis.exists(scene.key(queue, 'followers'))).toBe(0);
  });

  test('is handled once if the process is killed right after the call that releases it', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    const settings = { queue, handler: { lease: LEASE } };
    const first = await scene.startWorker(settings);
    await producer.offer(queue, { do: 'work', ms: 300 } satisfies Task, 0, { id: 'm' });
    await until(() => first.of('start').length === 1);
    // Long enough for the kill.
    await producer.offer(queue, null, 2500, { id: 'm', ...FOLLOW });
    await until(async () => (await producer.find(queue, 'm'))?.state === 'delayed', { every: 1 });
    await first.end('SIGKILL');
    const heir = await scene.startWorker(settings);
    await until(() => isEmpty(producer, queue));
    await until(() => heir.of('end').length > 0);
    expect(heir.of('start').map(({ id, attempt }) => [id, attempt])).toEqual([['m', 1]]);
  });

  test.each([
    [10, 1],
    [1000, 100],
  ])(
    'is released by the next repair if an older version settled the message that it follows (messages: %i)',
    async (_messages, count) => {
      const queue = scene.newQueue();
      const keys = nativeKeys(scene.prefix, queue);
      const limits = { attempts: 3, maxDeadLetters: 1000, maxMessages: null };
      const settings = { connection: scene.url, clock: systemClock, events: new LoggedEvents() };
      const connections = new RedisConnections({ ...settings, commandTimeout: 5000, heartbeat: 5000 });
      opened.push(connections);
      const store = new NativeMessageStore(connections, { keys, limits });
      const ids = Array.from({ length: 10 * count }, (_, i) => `m${i}`);
      const offersOf = (ids: readonly string[], onDuplicate: 'keep' | 'follow') =>
        ids.map((id) => ({
          id,
          due: { after: onDuplicate === 'keep' ? 0 : HOUR },
          onDuplicate,
          body: `J"${onDuplicate}"`,
        }));
      await store.offer(offersOf(ids, 'keep'));
      await until(async () => (await store.transfer({ limit: 1000 })).ready === ids.length);
      const { messages } = await store.claim({ token: 'old', limit: 1000, lease: HOUR });
      await store.offer(offersOf(ids, 'follow'));

      const gone = ids.slice(0, 3 * count);
      const dead = ids.slice(3 * count, 6 * count);
      const active = ids.slice(6 * count);
      // Settles as older versions do: the claim, and the keys that they know.
      const settled = scene.redis
        .multi()
        .hset(keys.claims, 'old', `\n${active.join('\n')}\n`)
        .hdel(keys.messages, ...gone);
      for (const id of dead) settled.zadd(keys.dead, 1, id).hset(keys.errors, id, '{}').hset(keys.attempts, id, '1');
      await settled.exec();
      const repair = async () => {
        for (let cursor: string | null | undefined; cursor !== null;) {
          const report = await store.repair(30_000, cursor);
          expect([report.ready, report.delayed]).toEqual([[], []]);
          cursor = report.cursor;
        }
      };
      for (let times = 0; times < 2; times++) {
        await repair();
        const counts = { delayed: gone.length + dead.length, ready: 0, active: active.length, dead: 0 };
        expect((await store.status()).counts).toEqual(counts);
      }
      for (const id of [...gone, ...dead]) {
        const found = await store.find(id);
        expect(found).toMatchObject({ state: 'delayed', failedAttempts: 0 });
        expect(found!.body.toString()).toBe('J"follow"');
      }
      expect(await scene.redis.hkeys(keys.followers)).toHaveLength(active.length);
      expect(messages).toHaveLength(ids.length);
    },
  );

  test.each([
    [1, 8],
    [3, 4],
    [8, 32],
  ])('waits in its partition while the queue grows from %i to %i partitions', async (before, after) => {
    const queue = scene.newQueue();
    const held = new Latch();
    const calls: unknown[] = [];
    const handle = async (payload: unknown) => {
      calls.push(payload);
      if (String(payload).startsWith('first')) await held.opened;
    };
    const options = { concurrency: 100 };
    const start = (partitions: number, more = {}) =>
      scene.startApp({ module: { defaults: { partitions }, ...more }, providers: [handlerOf(queue, handle, options)] });
    const { producer: old } = await start(before);
    const ids = Array.from({ length: 40 }, (_, i) => `m${i}`);
    const offers = (name: string) => ids.map((id) => ({ payload: `${name} ${id}`, delay: 0, id, ...FOLLOW }));
    await old.offerMany(queue, offers('first'));
    await until(() => calls.length === ids.length);
    const { producer: grown } = await start(after);
    for (const [name, producer] of [
      ['second', old],
      ['third', grown],
    ] as const) {
      expect((await producer.offerMany(queue, offers(name))).filter(({ follows }) => !follows)).toEqual([]);
    }
    expect(await grown.cancel(queue, 'm0')).toBe(true);
    expect(await old.cancel(queue, 'm0')).toBe(false);
    held.open();
    await until(() => isEmpty(grown, queue));
    const [, ...followed] = ids;
    expect(calls.slice(ids.length).sort()).toEqual(followed.map((id) => `third ${id}`).sort());
  });

  test('keeps its partition in use even if an older version has settled the last message in it', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false, defaults: { partitions: 4 } } });
    await producer.offer(queue, 1, '1h', { id: 'm' });
    await producer.cancel(queue, 'm');
    const keys = [0, 1, 2, 3].map((partition) => nativeKeys(scene.prefix, queue, partition));
    await scene.redis.hset(keys[3]!.followers, 'm', '+0\nJ1');
    const shrunk = await scene.startApp({ module: { consume: false, defaults: { partitions: 2 } } });
    await shrunk.producer.offer(queue, 1, '1h', { id: 'other' });
    const [, count] = (await scene.redis.get(keys[0]!.partitions))!.split(' ');
    expect(count).toBe('4');
  });
});
