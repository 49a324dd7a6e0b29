import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getDelayQueueProducerToken, DelayQueueModule, type DelayQueueModuleOptions } from '../../lib/index.js';
import { type DelayQueueOutbox, getOutboxToken, OutboxModule } from '../../packages/outbox/src/index.js';
import { startPostgresql } from '../support/databases/start-postgresql.js';
import { startRedis } from '../support/redis/start-redis.js';
import type { TestRedis } from '../support/redis/test-redis.js';
import { until } from '../support/until.js';
import { relayed } from './outbox.rules.js';
import { type OutboxApp, OutboxScene } from './outbox-scene.js';

const ELSEWHERE = { code: 'INVALID_OPTION', message: expect.stringMatching(/^OutboxModule: table: the rows of \S+ go to another Redis/) }; // prettier-ignore

describe('the outbox table', () => {
  const scene = new OutboxScene(
    'pg',
    async () => {
      const { server, url } = await startPostgresql({ fsync: 'off' });
      return { url, stop: () => server.stop() };
    },
    {},
  );
  let other: TestRedis;
  beforeAll(async () => void (other = await startRedis()));
  afterAll(() => other.stop());

  const offer = (app: OutboxApp, queue: string, id: string) =>
    scene.transact((transaction) => app.outbox.offer(transaction, queue, null, '1h', { id }));

  const others: readonly (readonly [string, () => DelayQueueModuleOptions])[] = [
    ['Redis server', () => ({ connection: other.url })],
    ['Redis database', () => ({ connection: `${scene.target.redisUrl}/3` })],
    ['prefix', () => ({ prefix: 'another' })],
  ];
  it.each(others)(
    'accepts rows for one target only: an application with another %s neither writes nor relays rows',
    async (_, module) => {
      const queue = scene.newQueue();
      const app = await scene.startApp();
      await offer(app, queue, 'first');
      await relayed(app);
      const stranger = await scene.startApp({ module: module(), outbox: { pollInterval: 50 } });
      await until(() => stranger.log.some((line) => line.includes('go to another Redis')));
      await expect(offer(stranger, queue, 'astray')).rejects.toMatchObject(ELSEWHERE);
      for (let i = 0; i < 50; i++) await offer(app, queue, `m-${i}`);
      await relayed(app);
      expect(await app.producer.counts(queue)).toMatchObject({ delayed: 51 });
      expect(await stranger.producer.counts(queue)).toMatchObject({ delayed: 0 });
      expect(await stranger.outbox.status()).toMatchObject({
        relay: { problem: expect.stringContaining('another Redis') },
      });
    },
  );

  it('refuses rows for another target from a process that only writes', async () => {
    const queue = scene.newQueue();
    const app = await scene.startApp();
    await offer(app, queue, 'first');
    await relayed(app);
    const writer = await scene.startApp({ module: { prefix: 'another' }, outbox: { relay: false } });
    await expect(offer(writer, queue, 'astray')).rejects.toMatchObject(ELSEWHERE);
    expect(await app.outbox.status()).toMatchObject({ waiting: 0 });
  });

  it('cannot be shared by two instances with different targets', async () => {
    const { database } = scene.library;
    const options = { database, table: await scene.table(), pollInterval: 50 };
    const producer = getDelayQueueProducerToken('billing');
    const app = await scene.startApp({
      outbox: { pollInterval: 50 },
      imports: [
        DelayQueueModule.forRoot({ name: 'billing', connection: other.url }),
        OutboxModule.forRoot({ ...options, instance: 'billing', producer }),
      ],
    });
    const billing = app.context.get<DelayQueueOutbox>(getOutboxToken('billing'));
    await until(async () => [await app.outbox.status(), await billing.status()].some(({ relay }) => relay.problem));
    const queue = scene.newQueue();
    const offered = await Promise.allSettled(
      [app.outbox, billing].map((outbox) =>
        scene.transact((transaction) => outbox.offer(transaction, queue, null, '1h')),
      ),
    );
    expect(offered.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('keeps its target after Redis has lost its data', async () => {
    const queue = scene.newQueue();
    const before = await scene.startApp();
    await offer(before, queue, 'lost');
    await relayed(before);
    await before.close();
    await scene.redis.flushall();
    const app = await scene.startApp();
    await offer(app, queue, 'm');
    await relayed(app);
    expect(await app.producer.find(queue, 'm')).not.toBeNull();
  });

  it('can be assigned another target with the documented statement', async () => {
    const queue = scene.newQueue();
    const before = await scene.startApp();
    await offer(before, queue, 'first');
    await relayed(before);
    await before.close();
    const moved = await scene.startApp({ module: { connection: other.url }, outbox: { pollInterval: 50 } });
    await until(() => moved.log.some((line) => line.includes('DELETE FROM')));
    await scene.write('DELETE FROM %table WHERE seq = -2');
    await until(async () => (await moved.outbox.status()).relay.problem === undefined, { within: 10_000 });
    await offer(moved, queue, 'm');
    await relayed(moved);
    expect(await moved.producer.find(queue, 'm')).not.toBeNull();
  });

  it('may be shared by outboxes with the same target', async () => {
    const queue = scene.newQueue();
    const apps = [await scene.startApp(), await scene.startApp()];
    await Promise.all(apps.map((app, i) => offer(app, queue, `m-${i}`)));
    await relayed(apps[0]!);
    expect(await apps[1]!.producer.counts(queue)).toMatchObject({ delayed: 2 });
  });
});
