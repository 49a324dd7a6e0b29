import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { Redis as Redis5 } from 'ioredis-5';
import { DelayQueueError, type DelayQueueModuleOptions } from '../../lib/index.js';
import { randomName } from '../support/random-name.js';
import { isThorough } from '../support/thorough.js';
import { startRedis } from '../support/redis/start-redis.js';
import type { TestRedis } from '../support/redis/test-redis.js';
import { everythingOf } from '../support/everything-of.js';
import { refusalOf } from '../support/refusal.js';
import { Scene } from '../support/scene.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

type Connection = DelayQueueModuleOptions['connection'];

const OlderRedis = Redis5 as unknown as typeof Redis;

/** Parts of every password, so that even a fragment of it is recognized. */
const PARTS = ['Kw7x', 'Jv3y', 'Hb5z'] as const;

const special = fc
  .array(
    fc.oneof(fc.constantFrom(...'@#/?%&=:;+ "\'\\[]{}|^~`$!,<>.\n\tüπ'), fc.constantFrom('%zz', '%2', '://', '99999')),
    {
      maxLength: 3,
    },
  )
  .map((characters) => characters.join(''));

const password = fc
  .tuple(special, special, special, special)
  .map(([a, b, c, d]) => `${a}${PARTS[0]}${b}${PARTS[1]}${c}${PARTS[2]}${d}`);

/** Passwords of which ioredis takes a part for a host or the name of an option if they are in a URL unencoded. */
const TAKEN_APART = ['Kw7x@Jv3y#Hb5z', '?Kw7xJv3y#Hb5z', '12?Kw7x Jv3y=Hb5z', '12?Kw7x=Jv3y&Hb5z'];

function expectNothingOf(reported: readonly string[]): void {
  for (const part of PARTS) expect(reported.join('\n')).not.toContain(part);
}

interface Place {
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly password: string;
}

/** The ways to give a password. */
const WAYS: Readonly<Record<string, (place: Place) => Connection>> = {
  'in a URL': ({ host, port, username, password }) => `redis://${username}:${password}@${host}:${port}`,
  'in a URL without a user': ({ host, port, password }) => `redis://:${password}@${host}:${port}`,
  'in a URL, encoded': ({ host, port, username, password }) =>
    `redis://${username}:${encodeURIComponent(password)}@${host}:${port}`,
  'in a URL with a wrong port': ({ host, username, password }) => `redis://${username}:${password}@${host}:99999`,
  "in a URL's query": ({ host, port, password }) => `redis://${host}:${port}?password=${password}`,
  'as an option': (place) => ({ ...place }),
  'in place of another option': ({ host, port, password }) =>
    ({ host, port, db: password, connectTimeout: password, tls: password }) as unknown as RedisOptions,
  'to a function, in a URL':
    ({ host, port, username, password }) =>
    (overrides) =>
      new Redis(`redis://${username}:${password}@${host}:${port}`, overrides),
  'to a function of ioredis 5': (place) => (overrides) => new OlderRedis({ ...place, ...overrides }),
  'in the URL of a node': ({ host, port, username, password }) => ({
    cluster: { nodes: [`redis://${username}:${password}@${host}:${port}`] },
  }),
  'to a cluster': ({ host, port, ...login }) => ({
    cluster: { nodes: [{ host, port }], options: { redisOptions: login } },
  }),
  'to a function that makes clusters':
    ({ host, port, ...login }) =>
    (overrides) =>
      new Cluster([{ host, port }], { ...overrides, redisOptions: { ...login, ...overrides } }),
};

describe('a password made of any characters', () => {
  const scene = new Scene({});
  /** A server that requires a password. */
  let server: TestRedis;
  beforeAll(async () => {
    server = await startRedis({ args: ['--requirepass', 'another'] });
  });
  afterAll(() => server.stop());

  /** @returns everything that errors and the log say about a refused connection */
  async function tellOf(connection: Connection, onCode: (code: string) => void = () => undefined): Promise<string[]> {
    let app: TestApp | undefined;
    try {
      app = await startTestApp({ connection, offerTimeout: 100 });
      await app.producer.offer('orders', 1, '1h');
      throw new Error('It was let in.');
    } catch (error) {
      expect(error).toBeInstanceOf(DelayQueueError);
      onCode((error as DelayQueueError).code);
      return [everythingOf(error), ...(app?.log ?? [])];
    } finally {
      await app?.close();
    }
  }

  test.each(Object.entries(WAYS))(
    'never appears in an error or a log line when it is given %s and refused',
    async (way, connect) => {
      const { host, port } = server;
      const codes = new Set<string>();
      await fc.assert(
        fc.asyncProperty(password, async (wrong) => {
          const connection = connect({ host, port, username: 'app', password: wrong });
          expectNothingOf(await tellOf(connection, (code) => codes.add(code)));
        }),
        { numRuns: isThorough ? 40 : 12, examples: TAKEN_APART.map((each) => [each]) },
      );
      // ioredis may take a part of the password for an address, and find no server there.
      const possible = [
        'INVALID_OPTION',
        'LOGIN_REFUSED',
        ...(way === 'to a function, in a URL' ? ['NOT_CONNECTED'] : []),
      ];
      expect(codes.size).toBeGreaterThan(0);
      expect([...codes].filter((code) => !possible.includes(code))).toEqual([]);
    },
  );

  test('never appears in an error or a log line if a server no longer accepts it', async () => {
    const { host, port } = scene.server;
    await fc.assert(
      fc.asyncProperty(password, async (right) => {
        const username = randomName('user');
        await scene.redis.call('ACL', 'SETUSER', username, 'on', `>${right}`, '~*', '&*', '+@all');
        const connection = WAYS['in a URL, encoded']!({ host, port, username, password: right });
        const app = await startTestApp({ connection, offerTimeout: 500 });
        await app.producer.offer('orders', right, '1h');
        await scene.redis.call('ACL', 'SETUSER', username, 'resetpass', '>another');
        await scene.redis.client('KILL', 'USER', username);
        const reported: string[] = [];
        await until(async () => {
          const error = await refusalOf(app.producer.offer('orders', right, '1h'));
          reported.push(everythingOf(error));
          return (error as DelayQueueError | undefined)?.code === 'LOGIN_REFUSED';
        });
        await app.close();
        expectNothingOf([...reported, ...app.log]);
      }),
      { numRuns: 10 },
    );
  });

  test.each(['ioredis 6', 'ioredis 5'])(
    'never appears in an error or a log line if a server repeats it in an error reply, with %s',
    async (major) => {
      // A server answers an unknown command by repeating its arguments.
      const forgetful = await startRedis({ args: ['--rename-command', 'AUTH', '', '--rename-command', 'HELLO', ''] });
      const way = major === 'ioredis 6' ? 'as an option' : 'to a function of ioredis 5';
      await fc.assert(
        fc.asyncProperty(password, async (wrong) => {
          const { host, port } = forgetful;
          const reported = await tellOf(WAYS[way]!({ host, port, username: 'app', password: wrong }));
          expect(reported.join()).toContain("ERR unknown command 'auth'");
          expectNothingOf(reported);
        }),
        { numRuns: 10 },
      );
      await forgetful.stop();
    },
  );

  test('never appears in an error or a log line if it is given to sentinels', async () => {
    // A plain server refuses a password just as a sentinel does.
    const sentinels = [{ host: server.host, port: server.port }];
    await fc.assert(
      fc.asyncProperty(password, async (sentinelPassword) => {
        const reported = await tellOf({ sentinels, name: 'primary', sentinelPassword, password: sentinelPassword });
        expect(reported.join()).toMatch(/LOGIN_REFUSED[^]*WRONGPASS[^]*sentinelPassword/);
        expectNothingOf(reported);
      }),
      { numRuns: 5 },
    );
  });
});
