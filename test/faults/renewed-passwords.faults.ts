import { describe, expect, test } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis-5';
import type { DelayQueueModuleOptions } from '../../lib/index.js';
import { Handled } from '../support/handled.js';
import { randomName } from '../support/random-name.js';
import { startCluster } from '../support/redis/start-cluster.js';
import { startRedis } from '../support/redis/start-redis.js';
import type { TestRedis } from '../support/redis/test-redis.js';
import { handlerOf, startTestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

interface Login {
  readonly username: string;
  password: string;
}

type Connection = Exclude<DelayQueueModuleOptions['connection'], undefined>;

/** The ways to give a password that can be renewed: the connection, and what renews the password of its later logins. */
interface Way {
  readonly start: () => Promise<TestRedis>;
  readonly connect: (server: TestRedis, login: Login) => { connection: Connection; renew: (password: string) => void };
}

const single = (Client: typeof Redis): Way => ({
  start: () => startRedis(),
  connect: ({ host, port }, login) => {
    const clients: Redis[] = [];
    const connection = (overrides: object) => {
      const client = new Client({ host, port, ...login, ...overrides });
      clients.push(client);
      return client;
    };
    const renew = (password: string) => {
      login.password = password;
      for (const { options } of clients) options.password = password;
    };
    return { connection, renew };
  },
});

const cluster = (Client: typeof Cluster): Way => ({
  start: () => startCluster(),
  connect: ({ host, port }, login) => {
    const clients: Cluster[] = [];
    const connection = (overrides: object) => {
      const client = new Client([{ host, port }], { ...overrides, redisOptions: { ...login, ...overrides } });
      clients.push(client);
      return client;
    };
    const renew = (password: string) => {
      login.password = password;
      for (const { options } of clients) options.redisOptions!.password = password;
    };
    return { connection, renew };
  },
});

const WAYS: Readonly<Record<string, Way>> = {
  'a server, with ioredis 6': single(Redis),
  'a server, with ioredis 5': single(Redis5 as unknown as typeof Redis),
  'a cluster, with ioredis 6': cluster(Cluster),
  'a cluster, with ioredis 5': cluster(Cluster5 as unknown as typeof Cluster),
};

describe.each(Object.entries(WAYS))('a password that expires, of %s', (_way, { start, connect }) => {
  test('is replaced while the application runs, and connections that the server then closes open again', async () => {
    const server = await start();
    const redis = new Redis(server.url);
    const username = randomName('user');
    const queue = randomName('queue');
    await redis.call('ACL', 'SETUSER', username, 'on', '>token-1', '~*', '&*', '+@all');
    const { connection, renew } = connect(server, { username, password: 'token-1' });
    const handled = new Handled();
    const app = await startTestApp(
      { connection, offerTimeout: '30s' },
      { providers: [handlerOf(queue, handled.record)] },
    );
    const idsOfClients = async () =>
      String(await redis.client('LIST'))
        .split('\n')
        .filter((line) => line.includes(`user=${username}`))
        .map((line) => line.split(' ')[0]!);

    const isConnectedAnew = async (before: readonly string[]) =>
      // For commands, announcements and wake-up signals.
      (await idsOfClients()).filter((id) => !before.includes(id)).length >= 3;

    await until(() => isConnectedAnew([]));
    for (const [round, token] of ['token-2', 'token-3'].entries()) {
      const before = await idsOfClients();
      renew(token);
      await redis.call('ACL', 'SETUSER', username, 'resetpass', `>${token}`);
      await redis.client('KILL', 'USER', username);
      await until(() => isConnectedAnew(before), { within: 20_000 });
      await app.producer.offer(queue, round, 20);
      await handled.untilCalls(round + 1);
    }
    expect(app.log.filter((line) => /WRONGPASS|login/i.test(line))).toEqual([]);
    await app.close();
    redis.disconnect();
    await server.stop();
  });
});
