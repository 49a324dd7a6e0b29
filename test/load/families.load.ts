import { afterEach, describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../lib/timing/clock.js';
import { resolveQueueOptions } from '../../lib/options/resolve-options.js';
import { nativeKeys } from '../../lib/store/native/native-keys.js';
import { NativeMessageStore } from '../../lib/store/native/native-store.js';
import { RedisConnections } from '../../lib/redis/redis-connections.js';
import { Handled } from '../support/handled.js';
import { LoggedEvents } from '../support/logged-events.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';
import type { Task } from '../support/worker/worker-settings.js';

const QUEUES = 40;
const LEASE = 2000;
/** How late a message may be on a busy machine, ms; the next check of the directory is a minute away. */
const LATEST = 5000;

describe('a family of queues', () => {
  const scene = new Scene({});
  /** The connections of a test that uses a store without the module. */
  let connections: RedisConnections | undefined;

  afterEach(() => connections?.close());

  const names = (name: string) => Array.from({ length: QUEUES }, (_, i) => `${name}-${i}`);
  const isRegistered = (queue: string) => scene.redis.hexists(`${scene.prefix}:{@queues}:registered`, queue);

  test('finds all messages that were offered while none of its processes was running', async () => {
    const name = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    for (const [i, queue] of names(name).entries()) await producer.offer(queue, null, i * 10, { id: queue });
    const worker = await scene.startWorker({ queue: `${name}-*` });
    await until(() => worker.of('end').length === QUEUES);
    expect(worker.of('start').map(({ id, attempt }) => [id, attempt])).toEqual(
      expect.arrayContaining(names(name).map((queue) => [queue, 1])),
    );
  });

  test('continues in another process soon after the leases of a killed process end', async () => {
    const name = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    const settings = { queue: `${name}-*`, handler: { lease: LEASE } };
    const doomed = await scene.startWorker(settings);
    const task: Task = { do: 'work', ms: 60_000, firstAttemptOnly: true };
    for (const queue of names(name)) await producer.offer(queue, task, 0, { id: queue });
    await until(() => doomed.of('start').length === QUEUES);
    const other = await scene.startWorker(settings);
    // Not before: they would fall due in the other process, if this one is slow to start.
    for (const queue of names(name)) await producer.offer(queue, null, 4000, { id: `${queue} later` });
    await doomed.end('SIGKILL');
    await until(() => other.of('end').length === 2 * QUEUES, { within: LEASE + 4000 + LATEST });
    const attempts = new Map(other.of('end').map(({ id, attempt }) => [id, attempt]));
    for (const queue of names(name)) expect([attempts.get(queue), attempts.get(`${queue} later`)]).toEqual([2, 1]);
  });

  test('handles each message once while its processes are replaced one by one', async () => {
    const name = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    const settings = { queue: `${name}-*` };
    const workers = await Promise.all([scene.startWorker(settings), scene.startWorker(settings)]);
    const offered: string[] = [];
    let enough = false;
    const offering = (async () => {
      for (let i = 0; !enough; i = (i + 1) % QUEUES) {
        offered.push((await producer.offer(`${name}-${i}`, { do: 'work', ms: 20 } satisfies Task, 50)).id);
        await sleep(5);
      }
    })();
    for (const old of [...workers]) {
      const target = offered.length + 100;
      await until(() => offered.length >= target, { within: 20_000 });
      const [next] = await Promise.all([scene.startWorker(settings), old.end('SIGTERM')]);
      workers.push(next);
    }
    enough = true;
    await offering;
    const ended = () => workers.flatMap((worker) => worker.of('end'));
    // Messages that a stopping process releases may wait until its lease would have ended.
    await until(() => ended().length >= offered.length, { within: 45_000, every: 20 });
    expect(
      ended()
        .map(({ id }) => id)
        .sort(),
    ).toEqual(offered.sort());
    expect(ended().every(({ attempt }) => attempt === 1)).toBe(true);
  });

  test('handles messages on time while all subscriptions are killed repeatedly', async () => {
    const name = scene.newQueue();
    const handled = new Handled();
    const { producer } = await scene.startApp({ module: { consume: false } });
    await scene.startApp({ providers: [handlerOf(`${name}-*`, handled.record)] });
    let killed = 0;
    for (const queue of names(name)) {
      killed += Number(await scene.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub', 'SKIPME', 'yes'));
      await producer.offer(queue, null, 100, { id: queue });
      await sleep(30);
    }
    await handled.untilCalls(QUEUES);
    expect(killed).toBeGreaterThan(5);
    for (const { late } of handled.calls) {
      expect(late).toBeGreaterThanOrEqual(0);
      expect(late).toBeLessThan(LATEST);
    }
  });

  test('handles messages with lost announcements within the check interval', async () => {
    const name = scene.newQueue();
    const handled = new Handled();
    const { producer } = await scene.startApp({
      providers: [handlerOf(`${name}-*`, handled.record, { checkInterval: '1s' })],
    });
    const queues = names(name);
    for (const queue of queues) await producer.offer(queue, null, '1h', { id: queue });
    for (const queue of queues) {
      const { offeredAt } = (await producer.find(queue, queue))!;
      await scene.redis.zadd(scene.key(queue, 'delayed'), offeredAt.getTime(), queue);
    }
    await handled.untilCalls(QUEUES, { within: 1000 + LATEST });
    expect(handled.ids.sort()).toEqual(queues.sort());
  });

  test('discovers messages whose queue was not registered when they were offered, even after a restart', async () => {
    const name = scene.newQueue();
    const handled = new Handled();
    const family = { providers: [handlerOf(`${name}-*`, handled.record, { checkInterval: '1s' })] };
    const patterns = async () => Number(await scene.redis.pubsub('NUMPAT'));
    const patternsOfOthers = await patterns();
    const first = await scene.startApp(family);
    // It starts before it listens, and nothing else tells it of the first message.
    await until(async () => (await patterns()) > patternsOfOthers);
    connections = new RedisConnections({
      connection: scene.url,
      clock: systemClock,
      events: new LoggedEvents(),
      commandTimeout: 5000,
      heartbeat: 5000,
    });
    await scene.redis.del(`${scene.prefix}:{@queues}:registered`);
    const offer = (queue: string, after: number) =>
      new NativeMessageStore(connections!, {
        keys: nativeKeys(scene.prefix, queue),
        limits: resolveQueueOptions(),
      }).offer([{ id: queue, due: { after }, onDuplicate: 'reject', body: 'J1' }]);
    await offer(`${name}-1`, 0);
    await handled.until(`${name}-1`);
    await offer(`${name}-2`, 4000);
    await until(async () => (await isRegistered(`${name}-2`)) === 1);
    await first.close();
    await scene.startApp(family);
    await handled.until(`${name}-2`, { within: 4000 + LATEST });
    expect(handled.calls.map(({ attempt }) => attempt)).toEqual([1, 1]);
  });

  test('closes the connections of idle queues and reopens them', async () => {
    const name = scene.newQueue();
    const handled = new Handled();
    const { producer } = await scene.startApp({ providers: [handlerOf(`${name}-*`, handled.record, { lease: '1s' })] });
    const wakeSignals = async () =>
      String(await scene.redis.client('LIST'))
        .split('\n')
        .filter((client) => client.includes('delay-queue:wake-signals')).length;
    const before = await wakeSignals();
    for (const round of [1, 2]) {
      await producer.offer(`${name}-${round % 2}`, null, '1h');
      await producer.offerMany(
        `${name}-1`,
        Array.from({ length: 100 }, () => ({ payload: null, delay: 0 })),
      );
      await handled.untilCalls(100 * round);
      await until(async () => (await wakeSignals()) === before + 1);
      await until(async () => (await wakeSignals()) === before, { within: 30_000, every: 100 });
    }
    expect(handled.calls).toHaveLength(200);
  });
});
