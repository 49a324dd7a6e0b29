import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { inspect } from 'node:util';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { Cluster as Cluster5 } from 'ioredis-5';
import type { DelayQueueModuleOptions } from '../../lib/index.js';
import { Handled } from '../support/handled.js';
import { randomName } from '../support/random-name.js';
import { startCluster } from '../support/redis/start-cluster.js';
import { sharedRedisUrl } from '../support/redis/shared-redis.js';
import type { TestRedis } from '../support/redis/test-redis.js';
import { refusalOf } from '../support/refusal.js';
import { handlerOf, startTestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

type Connection = DelayQueueModuleOptions['connection'];
interface Node {
  readonly host: string;
  readonly port: number;
}

const OlderCluster = Cluster5 as unknown as typeof Cluster;
const SECRET = 'hunter2';

const WAYS: Readonly<Record<string, (nodes: Node[], login: RedisOptions) => Connection>> = {
  options: (nodes, redisOptions) => ({ cluster: { nodes, options: { redisOptions } } }),
  'ioredis 6': (nodes, login) => (overrides) =>
    new Cluster(nodes, { ...overrides, redisOptions: { ...login, ...overrides } }),
  'ioredis 5': (nodes, login) => (overrides) =>
    new OlderCluster(nodes, { ...overrides, redisOptions: { ...login, ...overrides } }),
};

describe('a connection to a cluster', () => {
  let server: TestRedis;
  let redis: Redis;
  let nodes: Node[];

  beforeAll(async () => {
    server = await startCluster(['--bind', '127.0.0.1', '127.0.0.2']);
    redis = new Redis(server.url);
    nodes = [{ host: server.host, port: server.port }];
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  async function newUser(): Promise<string> {
    const user = randomName('user');
    await redis.call('ACL', 'SETUSER', user, 'on', `>${SECRET}`, '~*', '&*', '+@all');
    return user;
  }

  describe.each(Object.entries(WAYS))('configured with %s', (_way, connect) => {
    test('makes startup fail at once if the password is refused, without revealing it', async () => {
      const login = { username: await newUser(), password: `${SECRET}-old` };
      const start = performance.now();
      const error = await refusalOf(startTestApp({ connection: connect(nodes, login) }));
      expect(performance.now() - start).toBeLessThan(2000);
      expect(error).toMatchObject({ code: 'LOGIN_REFUSED', message: expect.stringContaining('WRONGPASS') });
      expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain(SECRET);
    });

    test('reports LOGIN_REFUSED while the password is wrong, and works again once it is corrected', async () => {
      const queue = randomName('orders');
      const handled = new Handled();
      const username = await newUser();
      const app = await startTestApp(
        { connection: connect(nodes, { username, password: SECRET }), defaults: { blockTimeout: '1s' } },
        { providers: [handlerOf(queue, handled.record)] },
      );
      await app.producer.offer(queue, 1, 0, { id: 'before' });
      await handled.until('before');
      await until(async () => (await app.producer.find(queue, 'before')) === null);

      await redis.call('ACL', 'SETUSER', username, 'resetpass', '>another');
      await redis.client('KILL', 'USER', username);
      await until(async () => {
        const error = (await refusalOf(app.producer.offer(queue, 1, 0))) as { code: string } | undefined;
        return error?.code === 'LOGIN_REFUSED';
      });
      await redis.call('ACL', 'SETUSER', username, `>${SECRET}`);
      await until(() => app.producer.offer(queue, 1, 0, { id: 'after' }).then(() => true));
      await handled.until('after');
      await app.close();
      expect(app.log.join('\n')).not.toContain(SECRET);
    });
  });

  test('is rejected if the server is not a cluster', async () => {
    const { hostname, port } = new URL(sharedRedisUrl());
    const connection = { cluster: { nodes: [{ host: hostname, port: Number(port) }] } };
    await expect(startTestApp({ connection })).rejects.toMatchObject({
      code: 'LOGIN_REFUSED',
      message: expect.stringMatching(/cluster support disabled.*this server is not a cluster/),
    });
  });

  test("uses the first node's login for all connections, even to addresses that the cluster announces", async () => {
    const user = await newUser();
    const queue = randomName('orders');
    // The cluster announces a different address.
    const connection = { cluster: { nodes: [`redis://${user}:${SECRET}@127.0.0.2:${server.port}`] } };
    const app = await startTestApp({ connection }, { providers: [handlerOf(queue, () => undefined)] });
    await app.producer.offer(queue, 1, '1h');
    await until(async () => Number((await redis.pubsub('SHARDNUMSUB', `delay-queue:{${queue}}:due`))[1]) === 1);
    const clients = String(await redis.client('LIST'))
      .trim()
      .split('\n');
    const others = clients.filter((client) => !/cmd=client|user=default .*flags=[A-Z]*[MS]/.test(client));
    await app.close();
    expect(others.length).toBeGreaterThan(2);
    expect(others.filter((client) => !client.includes(`user=${user}`))).toEqual([]);
  });
});
