import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis-5';
import type { DelayQueueModuleOptions } from '../../lib/index.js';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';

const PASSWORD = 'secret-password';

type Connect = (options: { host: string; port: number; password: string }) => DelayQueueModuleOptions['connection'];

/** HELLO, with which ioredis 6 logs in unless it is told otherwise, takes any password for a user without one. */
const CLIENTS: Readonly<Record<string, Connect>> = {
  'ioredis 6': (options) => options,
  'ioredis 6, in a URL': ({ host, port, password }) => `redis://:${password}@${host}:${port}`,
  'ioredis 6, as the default user': (options) => ({ ...options, username: 'default' }),
  'ioredis 6, by a function': (options) => (overrides) => new Redis({ ...options, ...overrides }),
  'ioredis 6, with protocol 2': (options) => ({ ...options, protocol: 2 }),
  'ioredis 5, as the default user': (options) => (overrides) =>
    new (Redis5 as unknown as typeof Redis)({ ...options, username: 'default', ...overrides }),
  'ioredis 5': (options) => (overrides) => new (Redis5 as unknown as typeof Redis)({ ...options, ...overrides }),
};

/** The output that bypasses the logger. */
let written: unknown[];
beforeEach(() => {
  written = [];
  for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const) {
    jest.spyOn(console, method).mockImplementation((...words: unknown[]) => void written.push(words));
  }
});
afterEach(() => {
  jest.restoreAllMocks();
});

describe('a password for a server that requires none', () => {
  const scene = new Scene({});

  test.each(Object.entries(CLIENTS))(
    'is logged once as unneeded and never printed on the console: %s',
    async (...[, connect]) => {
      const { host, port } = scene.server;
      const queue = scene.newQueue();
      const handled = new Handled();
      const { producer, log } = await scene.startApp({
        module: { connection: connect({ host, port, password: PASSWORD }) },
        providers: [handlerOf(queue, handled.record)],
      });
      await producer.offer(queue, 1, 0, { id: 'a' });
      await handled.until('a');
      await scene.server.restart();
      await producer.offer(queue, 1, 0, { id: 'b' });
      await handled.until('b');
      expect(written).toEqual([]);
      expect(log.filter((line) => line.includes('password'))).toEqual([
        expect.stringMatching(
          /^warn Redis does not use the login of `connection`: ERR AUTH <password> called without any password/,
        ),
      ]);
      expect(log.join('\n')).not.toContain(PASSWORD);
    },
  );
});

describe('a password that the server requires', () => {
  const scene = new Scene({});

  test.each(Object.entries(CLIENTS))('is not reported as unneeded: %s', async (...[, connect]) => {
    const { host, port } = scene.server;
    const queue = scene.newQueue();
    await scene.redis.config('SET', 'requirepass', PASSWORD);
    const { producer, log } = await scene.startApp({
      module: { connection: connect({ host, port, password: PASSWORD }) },
    });
    await producer.offer(queue, 1, '1h');
    await scene.redis.config('SET', 'requirepass', '');
    expect(log.filter((line) => line.includes('login'))).toEqual([]);
  });

  test('is not reported as unneeded if it belongs to a named ACL user', async () => {
    const { host, port } = scene.server;
    const queue = scene.newQueue();
    await scene.redis.call('ACL', 'SETUSER', 'app', 'on', `>${PASSWORD}`, '~*', '&*', '+@all');
    const { producer, log } = await scene.startApp({
      module: { connection: { host, port, username: 'app', password: PASSWORD } },
    });
    await producer.offer(queue, 1, '1h');
    const clients = (await scene.redis.client('LIST')) as string;
    expect(clients.split('\n').filter((line) => line.includes('name=delay-queue:'))).toEqual([
      expect.stringContaining(' user=app '),
    ]);
    expect(log.filter((line) => line.includes('login'))).toEqual([]);
  });
});
