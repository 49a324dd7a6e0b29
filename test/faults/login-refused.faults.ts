import { describe, expect, test } from '@jest/globals';
import { Redis, type RedisOptions } from 'ioredis';
import { Redis as Redis5 } from 'ioredis-5';
import type { DelayQueueModuleOptions } from '../../lib/index.js';
import { Handled } from '../support/handled.js';
import { randomName } from '../support/random-name.js';
import { refusalOf } from '../support/refusal.js';
import { Scene } from '../support/scene.js';
import { handlerOf, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

type Connection = DelayQueueModuleOptions['connection'];

/** The ways to configure a connection, with both protocols and both majors of ioredis. */
const WAYS: Readonly<Record<string, (options: RedisOptions) => Connection>> = {
  'as options': (options) => options,
  'as options, with RESP2': (options) => ({ ...options, protocol: 2 }),
  'in a URL': ({ host, port, username = '', password = '', db }) =>
    `redis://${username}:${password}@${host}:${port}${db === undefined ? '' : `/${db}`}`,
  'by a function': (options) => (overrides) => new Redis({ ...options, ...overrides }),
  'by a function that uses ioredis 5': (options) => (overrides) =>
    new (Redis5 as unknown as typeof Redis)({ ...options, ...overrides }),
};

/** Refusals that last, and how the error names each of them. */
const REFUSALS: Readonly<Record<string, { rules: string; options: RedisOptions; says: RegExp }>> = {
  'a database that does not exist': {
    rules: '+@all',
    options: { db: 99 },
    says: /DB index is out of range.*databases/,
  },
  'a database that the user may not choose': { rules: '+@all -select', options: { db: 1 }, says: /NOPERM.*ACL/ },
  'a wrong password': { rules: '+@all', options: { password: 'wrong' }, says: /WRONGPASS.*percent-encode/ },
  'a disabled user': { rules: '+@all off', options: {}, says: /WRONGPASS/ },
};

describe.each(Object.entries(WAYS))('a connection given %s', (_way, connect) => {
  const scene = new Scene({});

  const newUser = async (rules: string) => {
    const username = randomName('user');
    await scene.redis.call('ACL', 'SETUSER', username, 'on', '>secret', '~*', '&*', ...rules.split(' '));
    return username;
  };
  const optionsFor = (username: string, more: RedisOptions = {}): RedisOptions => {
    const { host, port } = scene.server;
    return { host, port, username, password: 'secret', ...more };
  };
  const keysOf = async (queue: string) => (await scene.redis.keys(`*${queue}*`)).length;
  const killAll = (username: string) => scene.redis.client('KILL', 'USER', username);

  test.each(Object.entries(REFUSALS))(
    'makes startup fail at once if it uses %s, and the error names the cause',
    async (_what, refusal) => {
      const queue = scene.newQueue();
      const username = await newUser(refusal.rules);
      for (const consume of [true, false]) {
        const start = performance.now();
        const module = { connection: connect(optionsFor(username, refusal.options)), consume };
        const error = await refusalOf(scene.startApp({ module, providers: [handlerOf(queue, () => undefined)] }));
        const took = Math.round(performance.now() - start);
        expect(error).toMatchObject({ code: 'LOGIN_REFUSED', message: expect.stringMatching(refusal.says) });
        // A call's own time limit is 5 s.
        expect(took).toBeLessThan(2000);
      }
      expect(await keysOf(queue)).toBe(0);
    },
  );

  /** Starts an application with a user of its own and its messages in database 1. */
  async function startIn1() {
    const queue = scene.newQueue();
    const handled = new Handled();
    const username = await newUser('+@all');
    const app = await scene.startApp({
      module: { connection: connect(optionsFor(username, { db: 1 })), defaults: { blockTimeout: '1s' } },
      providers: [handlerOf(queue, handled.record)],
    });
    await app.producer.offer(queue, 1, 0, { id: 'before' });
    await handled.until('before');
    return { queue, handled, username, ...app };
  }

  async function untilRefused({ producer }: TestApp, queue: string, says: RegExp) {
    await until(async () => {
      const start = performance.now();
      const error = (await refusalOf(producer.offer(queue, 1, 0))) as { code: string; message: string } | undefined;
      return error?.code === 'LOGIN_REFUSED' && says.test(error.message) && performance.now() - start < 1000;
    });
  }

  test('uses no other database after it loses access to its own, and works again once access is restored', async () => {
    const { queue, handled, username, ...app } = await startIn1();
    await scene.redis.call('ACL', 'SETUSER', username, '-select');
    await killAll(username);
    await untilRefused(app, queue, /NOPERM/);
    expect(await keysOf(queue)).toBe(0);
    const names = (await scene.redis.pubsub('CHANNELS', '*')) as string[];
    expect(names.filter((name) => name.includes(queue))).toEqual([]);

    await scene.redis.call('ACL', 'SETUSER', username, '+select');
    await until(() => app.producer.offer(queue, 1, 0, { id: 'after' }).then(() => true));
    await handled.until('after');
    expect(await keysOf(queue)).toBe(0);
  });

  test('reports LOGIN_REFUSED while the password is wrong, and works again once it is corrected', async () => {
    const { queue, handled, username, ...app } = await startIn1();
    await scene.redis.call('ACL', 'SETUSER', username, 'resetpass', '>another');
    await killAll(username);
    await untilRefused(app, queue, /WRONGPASS/);
    await scene.redis.call('ACL', 'SETUSER', username, '>secret');
    await until(() => app.producer.offer(queue, 1, 0, { id: 'after' }).then(() => true));
    await handled.until('after');
    expect(app.log.filter((line) => line.includes('secret'))).toEqual([]);
  });
});
