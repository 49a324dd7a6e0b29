import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { systemClock } from '../../lib/timing/clock.js';
import { DelayQueueError } from '../../lib/message/delay-queue-errors.js';
import type { ConnectionOptions } from '../../lib/redis/options/connection-options.js';
import { resolveModuleOptions } from '../../lib/options/resolve-options.js';
import { clusterRules, redisRules } from '../../lib/redis/options/client-options.js';
import { RedisConnection } from '../../lib/redis/connection/redis-connection.js';
import { createClient, type RedisClient } from '../../lib/redis/connection/redis-client.js';
import { LoggedEvents } from '../support/logged-events.js';
import { sharedRedisUrl } from '../support/redis/shared-redis.js';
import { refusalOf } from '../support/refusal.js';
import { anyHostile, type Making } from '../support/hostile-values.js';

/** Anything that somebody may write or compute by mistake. */
const junk: fc.Arbitrary<Making> = fc.oneof(
  fc.constantFrom(NaN, Infinity, -1, 0.5, 2 ** 31, '', '-1', '1e3', null, [], {}).map(
    (value): Making =>
      () =>
        value,
  ),
  anyHostile,
);

/** Names of options, near misses, and arbitrary names. */
const names = (rules: object) =>
  fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...Object.keys(rules)) },
    fc.constantFrom(...Object.keys(rules)).map((name) => name.slice(0, -1)),
    fc.string(),
    fc.constantFrom('__proto__', 'constructor', 'toString'),
  );

const fieldsOf = (rules: object) => fc.array(fc.tuple(names(rules), junk), { minLength: 1, maxLength: 3 });

/** An object with these as its own properties, even under names such as __proto__. */
function objectOf(fields: readonly (readonly [string, Making])[]): object {
  const own = fields.map(([name, make]) => [name, { value: make(), enumerable: true, writable: true }] as const);
  return Object.defineProperties({}, Object.fromEntries(own));
}

describe('odd connection options', () => {
  let server: Server;
  let connections = 0;
  let here: { host: string; port: number };

  beforeAll(async () => {
    server = createServer((socket) => {
      connections++;
      socket.destroy();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    here = { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
  });
  afterAll(async () => {
    server.close();
    await once(server, 'close');
  });

  /** Every place where options can be given, and whether an error there names the option. */
  const places = (): Record<
    string,
    [rules: object, connect: (options: object) => ConnectionOptions, named: boolean]
  > => ({
    'as options': [redisRules, (options) => ({ ...here, ...options }), true],
    'of a cluster': [clusterRules, (options) => ({ cluster: { nodes: [here], options } }), true],
    "of a cluster's connections": [
      redisRules,
      (redisOptions) => ({ cluster: { nodes: [here], options: { redisOptions } } }),
      true,
    ],
    "of a cluster's node": [redisRules, (options) => ({ cluster: { nodes: [{ ...here, ...options }] } }), true],
    'in a function': [
      redisRules,
      (options) => (overrides: RedisOptions) => new Redis({ ...here, ...options, ...overrides }),
      false,
    ],
    'in a function that makes clusters': [
      redisRules,
      (options) => (overrides: RedisOptions) =>
        new Cluster([here], { ...overrides, redisOptions: { ...options, ...overrides } }),
      false,
    ],
  });

  test.each(Object.keys(places()))(
    'are harmless or rejected with a typed error, and no socket is opened: %s',
    async (place) => {
      const [rules, connect, isNamed] = places()[place]!;
      let accepted = 0;
      await fc.assert(
        fc.asyncProperty(fieldsOf(rules), async (fields) => {
          const options = objectOf(fields);
          let client: RedisClient | undefined;
          try {
            const { connection } = resolveModuleOptions({ connection: connect(options) });
            client = createClient(connection, 'commands');
          } catch (error) {
            expect(error).toBeInstanceOf(DelayQueueError);
            const { code, message } = error as DelayQueueError;
            expect(code).toBe('INVALID_OPTION');
            if (isNamed)
              expect(
                message.includes('the unknown name is not shown') ||
                  Object.keys(options).some((name) => message.includes(name)),
              ).toBe(true);
          }
          if (client) {
            accepted++;
            expect(client.status).toBe('wait');
            client.disconnect();
          }
          // An unhandled rejection would fail the test in the next turn.
          await new Promise((resolve) => setImmediate(resolve));
        }),
        { numRuns: 500 },
      );
      expect(connections).toBe(0);
      expect(accepted).toBeGreaterThan(0);
    },
  );

  /** The options that lead to the test server whatever their values. */
  const harmless = Object.keys(redisRules).filter(
    (name) => !['host', 'port', 'path', 'tls', 'sentinels', 'Connector'].includes(name),
  );
  const scalar = fc.oneof(
    fc.constantFrom<unknown>(0, 1, 2, 3, 15, 16, 50, 2 ** 31 - 1, '0', '50', true, 'false', '', 'a b\r\n', 'ü'),
    fc.nat(),
    fc.string(),
  );

  test('lead either to a ready connection or to a typed error if they are accepted', async () => {
    const { hostname, port } = new URL(sharedRedisUrl());
    const events = new LoggedEvents();
    const outcomes = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.constantFrom(...harmless), scalar, { maxKeys: 3 }), async (options) => {
        const connection: ConnectionOptions = { ...options, host: hostname, port: Number(port) };
        try {
          resolveModuleOptions({ connection });
        } catch {
          return;
        }
        const settings = { connection, clock: systemClock, events, commandTimeout: 200 };
        const opened = new RedisConnection('commands', settings);
        const refusal = await refusalOf(opened.ready('PING'));
        if (refusal === undefined) expect(await opened.client.ping()).toBe('PONG');
        outcomes.add((refusal as DelayQueueError | undefined)?.code ?? 'ready');
        await opened.close();
      }),
      { numRuns: 150 },
    );
    expect(outcomes).toContain('ready');
    expect([...outcomes].sort().join()).toMatch(/^(LOGIN_REFUSED,)?(NOT_CONNECTED,)?ready$/);
  });
});
