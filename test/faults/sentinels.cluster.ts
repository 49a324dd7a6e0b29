import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Handled } from '../support/handled.js';
import { randomName } from '../support/random-name.js';
import { ask, RedisSentinels } from '../support/redis/redis-sentinels.js';
import type { TestRedis } from '../support/redis/test-redis.js';
import { handlerOf, startTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

/** Sentinels tell a former primary only after eight seconds that it has been replaced, which closes all its connections. */
const BEFORE_IT_KNOWS = 5000;

const connectionsTo = async (server: TestRedis) =>
  String(await ask(server, 'CLIENT', 'LIST')).split(' name=delay-queue:').length - 1;
const listenersTo = async (sentinel: TestRedis) =>
  String(await ask(sentinel, 'CLIENT', 'LIST')).split(' sub=1 ').length - 1;

describe('a primary watched by sentinels', () => {
  let servers: RedisSentinels;
  let app: TestApp | undefined;

  beforeAll(async () => {
    servers = await RedisSentinels.start();
  });
  afterAll(async () => {
    await app?.close();
    await servers.stop();
  });

  test('loses all connections of the application as soon as the sentinels have replaced it', async () => {
    const queue = randomName('orders');
    const handled = new Handled();
    const [sentinel] = servers.sentinels;
    app = await startTestApp({ connection: servers.connection }, { providers: [handlerOf(queue, handled.record)] });
    const former = await servers.primary();
    await until(async () => (await connectionsTo(former)) === 3);
    await until(async () => (await listenersTo(sentinel!)) === 3);

    await ask(sentinel!, 'SENTINEL', 'FAILOVER', servers.connection.name);
    await servers.untilReplaced(former);
    await until(async () => (await connectionsTo(former)) === 0, { within: BEFORE_IT_KNOWS });
    expect(await ask(former, 'INFO', 'replication')).toContain('role:master');

    await until(async () => (await connectionsTo(await servers.primary())) === 3);
    await app.producer.offer(queue, 1, 0);
    await handled.untilCalls(1);
    await app.close();
    app = undefined;
    await until(async () => (await listenersTo(sentinel!)) === 0);
    await servers.untilWhole();
  });
});
