import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import type { DelayQueueModuleOptions } from '../../lib/index.js';
import { serverName } from '../../lib/redis/check/server-info.js';
import { Handled } from '../support/handled.js';
import { layouts } from '../support/layouts.js';
import { startRedis } from '../support/redis/start-redis.js';
import type { TestRedis } from '../support/redis/test-redis.js';
import { Scene } from '../support/scene.js';
import { callsOf } from '../support/tcp-proxy/filters.js';
import { Proxies } from '../support/tcp-proxy/proxies.js';
import { TcpProxy } from '../support/tcp-proxy/tcp-proxy.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

/** How long the replica's network takes in each direction, ms. */
const LAG = 40;
const WITHIN = 300;

const QUEUES: Readonly<Record<string, DelayQueueModuleOptions['defaults']>> = {
  'a queue': {},
  'a queue with partitions': { partitions: 3 },
  'a queue in the Redisson layout': { layout: layouts.redisson },
};

describe('an offer with the acknowledge option', () => {
  const scene = new Scene({ args: ['--repl-diskless-sync-delay', '0'] });
  const proxies = new Proxies(scene);
  let link: TcpProxy;
  let replica: TestRedis;
  let copies: Redis;

  beforeAll(async () => {
    link = await TcpProxy.start(scene.url);
    const { host, port } = link.address;
    replica = await startRedis({ args: ['--replicaof', host, String(port)] });
    copies = new Redis(replica.url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
    link.slowDown(LAG);
    await replicaIsInSync();
  });
  afterEach(async () => {
    await replica.thaw();
    await replicaIsInSync();
  });
  afterAll(async () => {
    copies.disconnect();
    await replica.stop();
    await link.stop();
  });

  const replicaIsInSync = () =>
    until(
      async () => {
        await scene.redis.set('mark', Date.now());
        return (await scene.redis.wait(1, 200)) === 1;
      },
      { within: 20_000 },
    );
  const waits = async () => Number(/cmdstat_wait:calls=(\d+)/.exec(await scene.redis.info('commandstats'))?.[1] ?? 0);
  const acknowledge = { replicas: 1, within: WITHIN };
  const copiedKeys = async (queue: string) =>
    (await copies.keys(`*${queue}*`)).filter((key) => /messages|redisson_delay_queue/.test(key));

  describe.each(Object.entries(QUEUES))('to %s', (_, defaults) => {
    test('succeeds once the replica has its message', async () => {
      const queue = scene.newQueue();
      const { producer } = await scene.startApp({ module: { acknowledge, defaults, consume: false } });
      const offeredAt = performance.now();
      await producer.offer(queue, 1, '1h', { id: 'm' });
      expect(performance.now() - offeredAt).toBeGreaterThanOrEqual(LAG);
      expect(await copiedKeys(queue)).not.toEqual([]);
    });

    test('fails if the replica does not confirm the message, which is still stored and handled', async () => {
      const queue = scene.newQueue();
      const handled = new Handled();
      const { producer } = await scene.startApp({
        module: { acknowledge, defaults },
        providers: [handlerOf(queue, (payload, message) => handled.record(payload, message))],
      });
      await replica.freeze();
      await expect(producer.offer(queue, 1, 10, { id: 'm' })).rejects.toMatchObject({
        code: 'NOT_REPLICATED',
        messageId: 'm',
        message: expect.stringMatching(/not known to be replicated within 300 ms: 0 of 1 replicas have confirmed it/),
      });
      await handled.until('m');
    });
  });

  test('creates only one message when it is retried with the same id, and succeeds once the replica has the message', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { acknowledge, consume: false } });
    await replica.freeze();
    await expect(producer.offer(queue, 1, '1h', { id: 'm' })).rejects.toMatchObject({ code: 'NOT_REPLICATED' });
    await replica.thaw();
    await replicaIsInSync();
    expect(await producer.offer(queue, 1, '1h', { id: 'm' })).toMatchObject({ created: false });
    expect(await copiedKeys(queue)).not.toEqual([]);
  });

  test('makes cancel() and reschedule() wait for the replica too, unless they change nothing', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { acknowledge, consume: false } });
    for (const id of ['a', 'b', 'c']) await producer.offer(queue, 1, '1h', { id });
    await replica.freeze();
    const calls = [
      () => producer.cancel(queue, 'a'),
      () => producer.reschedule(queue, 'b', '2h'),
      () => producer.reschedule(queue, 'c', '2h', { payload: 2 }),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'NOT_REPLICATED' });
    expect(await producer.cancel(queue, 'a')).toBe(false);
    expect(await producer.reschedule(queue, 'a', '2h')).toBe(false);
    expect(await producer.abort(queue, 'b')).toBe(false);
    expect(await producer.find(queue, 'c')).toMatchObject({ payload: 2 });
  });

  test('is rejected as a duplicate even while the replica confirms nothing', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { acknowledge, consume: false } });
    await producer.offer(queue, 1, '1h', { id: 'm' });
    await replica.freeze();
    const refused = producer.offer(queue, 1, '1h', { id: 'm', onDuplicate: 'reject' });
    const stored = producer.offer(queue, 1, '1h', { id: 'n' });
    await expect(refused).rejects.toMatchObject({ code: 'DUPLICATE_MESSAGE' });
    await expect(stored).rejects.toMatchObject({ code: 'NOT_REPLICATED', messageId: 'n' });
  });

  test('waits together with the other offers of its event-loop turn', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { acknowledge, consume: false } });
    await producer.offer(queue, 0, '1h');
    const before = await waits();
    await Promise.all(Array.from({ length: 100 }, (_, number) => producer.offer(queue, number, '1h')));
    // The first does not wait for the turn to end, because nothing else is under way.
    expect((await waits()) - before).toBeLessThanOrEqual(2);
  });

  test('of a list stores all its messages even if the replica confirms none, and the error gives their number', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { acknowledge, consume: false } });
    await replica.freeze();
    const messages = Array.from({ length: 600 }, (_, number) => ({ payload: number, delay: '1h' as const }));
    await expect(producer.offerMany(queue, messages)).rejects.toMatchObject({
      code: 'NOT_REPLICATED',
      message: expect.stringContaining('600 of 600 offers are not known to be replicated'),
    });
    expect(await producer.counts(queue)).toMatchObject({ delayed: 600 });
  });

  test('does not delay handlers while it waits for a replica that never confirms', async () => {
    const queue = scene.newQueue();
    const lateness: number[] = [];
    const { producer } = await scene.startApp({
      module: { acknowledge },
      providers: [handlerOf(queue, (_, message) => lateness.push(Date.now() - message.dueAt.getTime()))],
    });
    const handled = Array.from({ length: 40 }, (_, number) => ({ payload: number, delay: 500 + number * 25 }));
    await producer.offerMany(queue, handled);
    await replica.freeze();
    while (lateness.length < handled.length) await producer.offer(queue, 0, '1h').catch(() => undefined);
    expect(lateness.sort((one, other) => one - other)[20]).toBeLessThan(WITHIN / 3);
  });

  test('is never acknowledged if its connection breaks while it waits', async () => {
    const queue = scene.newQueue();
    const proxy = await proxies.start();
    const { producer } = await scene.startApp({ module: { acknowledge, consume: false, connection: proxy.url } });
    await producer.offer(queue, 0, '1h');
    const held = proxy.holdReplies(({ command }) => command === 'WAIT');
    const offered = Promise.allSettled([producer.offer(queue, 1, '1h', { id: 'm' })]);
    await until(() => held.count === 1);
    proxy.reset();
    expect(await offered).toMatchObject([
      { status: 'rejected', reason: { code: expect.stringMatching(/^(NOT_REPLICATED|OUTCOME_UNKNOWN)$/) } },
    ]);
  });

  test('waits for the replica after it is sent again to a server that has lost its library', async () => {
    const queue = scene.newQueue();
    const proxy = await proxies.start();
    const { producer } = await scene.startApp({ module: { acknowledge, consume: false, connection: proxy.url } });
    await producer.offer(queue, 1, '1h', { id: 'before' });
    const offers = proxy.watch(callsOf('offer'));
    await scene.redis.call('FUNCTION', 'FLUSH');
    await replica.freeze();
    await expect(producer.offer(queue, 1, '1h', { id: 'm' })).rejects.toMatchObject({ code: 'NOT_REPLICATED' });
    // It is sent again before the library is loaded, and after that.
    expect(offers.count).toBe(3);
  });

  test('requires the permission to run WAIT', async () => {
    const user = ['acknowledged', 'on', '>secret', '~*', '&*', '+@all', '-wait'] as const;
    await scene.redis.call('ACL', 'SETUSER', ...user);
    const { host, port } = scene.server;
    const connection = `redis://acknowledged:secret@${host}:${port}`;
    const handler = handlerOf(scene.newQueue(), () => undefined);
    await expect(scene.startApp({ module: { connection, acknowledge }, providers: [handler] })).rejects.toMatchObject({
      code: 'MISSING_PERMISSION',
      message: expect.stringContaining('+wait'),
    });
  });
});

describe('acknowledge.fsync', () => {
  const scene = new Scene({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] });
  const module = { acknowledge: { replicas: 0, fsync: true, within: WITHIN } } as const;
  const isOld = async () => serverName(await scene.redis.info('server')).startsWith('Redis 7.0.');

  test('lets an offer succeed once it is on disk, and rejects a server that cannot confirm this', async () => {
    const queue = scene.newQueue();
    const handler = handlerOf(queue, () => undefined);
    const start = scene.startApp({ module, providers: [handler] });
    if (await isOld()) {
      await expect(start).rejects.toMatchObject({
        code: 'UNSUPPORTED_SERVER',
        message: expect.stringMatching(/Redis 7\.0\.\d+ .*acknowledge\.fsync needs Redis 7\.2/),
      });
      return;
    }
    const { producer } = await start;
    await producer.offer(queue, 1, '1h');
    expect(await scene.redis.info('commandstats')).toMatch(/cmdstat_waitaof:calls=[1-9]/);
    await scene.server.kill9();
    await scene.server.restart();
    await until(async () => (await producer.counts(queue).catch(() => undefined))?.delayed === 1);
  });

  test('rejects a server that does not write an append-only file', async () => {
    if (await isOld()) return;
    await scene.redis.config('SET', 'appendonly', 'no');
    const handler = handlerOf(scene.newQueue(), () => undefined);
    await expect(scene.startApp({ module, providers: [handler] })).rejects.toMatchObject({
      code: 'UNSUPPORTED_SERVER',
      message: expect.stringContaining('appendonly yes'),
    });
  });
});
