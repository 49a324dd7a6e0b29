import { describe, expect, it } from '@jest/globals';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis-5';
import type { ConnectionOptions } from '../../lib/redis/options/connection-options.js';
import { createClient } from '../../lib/redis/connection/redis-client.js';
import { resolveModuleOptions } from '../../lib/options/resolve-options.js';

const NODES = ['redis://redis-1:6379'];
const NODES_EXAMPLE = "such as { nodes: [{ host: 'redis-1', port: 6379 }] }";
const CLIENT =
  'is an ioredis client, but several are needed: give its URL or its options instead, or a function, ' +
  '(overrides) => client.duplicate(overrides)';
const CLUSTER =
  'is an ioredis client, but several are needed: give { cluster: { nodes, options } } instead, or a function, ' +
  '(overrides) => cluster.duplicate([], { ...overrides, redisOptions: ';

const redis = new Redis({ lazyConnect: true });
const redis5 = new Redis5({ lazyConnect: true });
const cluster = new Cluster(NODES, { lazyConnect: true });
const cluster5 = new Cluster5(NODES, { lazyConnect: true });
/** The members by which a client of node-redis is recognized. */
const nodeRedis = { duplicate: () => null, sendCommand: () => null, isOpen: false };

function messageOf(connection: unknown): string {
  try {
    resolveModuleOptions({ connection: connection as ConnectionOptions });
  } catch (error) {
    expect(error).toHaveProperty('code', 'INVALID_OPTION');
    return (error as Error).message;
  }
  throw new Error('accepted');
}

describe('the error for an unusable connection', () => {
  it.each<[string, unknown, string]>([
    ['an ioredis client', redis, `connection ${CLIENT}`],
    ['an ioredis 5 client', redis5, `connection ${CLIENT}`],
    ['an ioredis cluster', cluster, `connection ${CLUSTER}`],
    ['an ioredis 5 cluster', cluster5, `connection ${CLUSTER}`],
    ['a cluster inside cluster', { cluster }, `connection.cluster ${CLUSTER}`],
    ['a node-redis client', nodeRedis, 'connection is a client of another library: give its URL, or ioredis'],
    ['the class of a client', Redis, 'connection is a class: give a function that makes clients'],
    ['a promise', Promise.resolve('redis://redis-1'), 'connection is a promise: await it in the useFactory of'],
    ['a promise that fails', Promise.reject(new Error('x')), 'connection is a promise'],
    ['an array', [{ host: 'redis-1' }], 'connection is an array: for a cluster, give { cluster: { nodes: [...] } }'],
    ['a URL object', new URL('redis://redis-1'), 'connection is a URL object: give its text, url.href'],
    ['a Map', new Map([['host', 'redis-1']]), 'or a function that makes clients, not an instance of Map'],
    ['null', null, 'or a function that makes clients, not null'],
    ['a number', 6379, 'or a function that makes clients, not a number'],
    ['options of a host in cluster', { cluster: { host: 'a' } }, `${NODES_EXAMPLE}, not an object without nodes`],
    ['an array in cluster', { cluster: [{ host: 'a' }] }, 'cluster is an array: give { cluster: { nodes: [...] } }'],
    ['a string in cluster', { cluster: 'redis-1:6379' }, `${NODES_EXAMPLE}, not text`],
    ['true in cluster', { cluster: true }, `${NODES_EXAMPLE}, not true`],
    [
      'a string for nodes',
      { cluster: { nodes: 'a:1' } },
      'connection.cluster.nodes must be a non-empty array, such as',
    ],
    ['no nodes', { cluster: { nodes: [] } }, "[{ host: 'redis-1', port: 6379 }], not an empty array"],
    ['options next to nodes', { cluster: { nodes: NODES, redisOptions: {} } }, 'it belongs in cluster.options'],
    ['a password next to cluster', { cluster: { nodes: NODES }, password: 'x' }, 'in cluster.options.redisOptions'],
    ['nodes without cluster', { nodes: NODES }, 'for a cluster, give { cluster: { nodes } }'],
    ['node-redis options', { socket: { host: 'a' } }, 'give host, port and tls without it'],
    ['a URL among options', { url: 'redis://redis-1' }, 'give the URL itself as `connection`'],
    ['a user', { user: 'app' }, 'connection.user is not an option of ioredis; use username'],
    ['a host name', { hostname: 'redis-1' }, 'connection.hostname is not an option of ioredis; use host'],
    [
      'one sentinel',
      { sentinels: { host: 'a' }, name: 'm' },
      "such as [{ host: 'sentinel-1', port: 26379 }], not this",
    ],
    [
      'a string for sentinels',
      { sentinels: ['a:1'], name: 'm' },
      'connection.sentinels must be a list of at least one',
    ],
    ['a master name', { sentinels: [{}], masterName: 'm' }, 'masterName is not an option of ioredis; use name'],
    ['an empty string', '', 'connection is not a URL: is an environment variable in it not set?'],
    ['a variable that is not set', 'undefined', 'is an environment variable in it not set?'],
    ['a host that is not set', 'redis://:secret@undefined:6379', 'is an environment variable in it not'],
    ['a port that is not set', 'redis://redis-1:undefined', 'is an environment variable in it not set?'],
    ['a URL without scheme', 'redis-1:6379', 'must start with redis:// or rediss://, as in redis://127.0.0.1:6379'],
    ['an empty host', { host: '' }, 'not empty text: is an environment variable not set?'],
    [
      'a host with a port',
      { host: 'redis-1:6379' },
      'connection.host must be the name or the address of a host, without',
    ],
    ['a host that is a URL', { host: 'redis://redis-1' }, 'without a scheme or a port, not this text'],
    ['an empty port', { port: '' }, 'from 1 to 65535, not empty text: is an environment variable not set?'],
    ['a port that is no number', { port: NaN }, 'connection.port must be a whole number from 1 to 65535, not NaN'],
    ['a number for a password', { password: 1234 }, 'connection.password must be text, not a number'],
    ['yes for tls', { tls: 'yes' }, 'connection.tls must be TLS options of Node.js, or true, not this text'],
    [
      'a function in a URL',
      'redis://a?Connector=x',
      'a function, not this text: give ioredis options instead of a URL',
    ],
  ])('names the given value and the fix: %s', (_what, connection, problem) => {
    expect(messageOf(connection)).toContain(problem);
  });

  it.each<[string, () => unknown, string]>([
    ['nothing', () => undefined, 'not undefined'],
    ['a promise', () => Promise.resolve(redis), 'not a promise'],
    ['options', () => ({ host: 'a' }), 'not an object'],
    ['a URL', () => 'redis://a', 'not text'],
    ['an array', () => [redis], 'not an array'],
    ['a node-redis client', () => nodeRedis, 'not an object'],
    ['a client in use', () => Object.assign(new Redis({ lazyConnect: true }), { status: 'ready' }), "is 'ready'"],
  ])('names what a function returned instead of a new client: %s', (_what, make, problem) => {
    const connection = make as unknown as (overrides: RedisOptions) => Redis;
    expect(() => createClient(connection, 'commands')).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringContaining(problem) }),
    );
  });

  it('does not show a password', () => {
    for (const connection of ['redis://:secret@undefined', { password: ['secret'] }, { port: 'secret' }, ['secret']])
      expect(messageOf(connection)).not.toContain('secret');
  });
});

describe('a connection', () => {
  it.each([{ host: '::1' }, { host: 'redis-1', port: '6379' }, { cluster: undefined, host: 'redis-1' }, {}])(
    'can be %j',
    (connection) => {
      expect(() => resolveModuleOptions({ connection: connection as ConnectionOptions })).not.toThrow();
    },
  );

  it('can be a function that duplicates a client, as the error message suggests', () => {
    const made = createClient((overrides) => redis.duplicate(overrides), 'commands');
    expect(made).not.toBe(redis);
    expect(made.status).toBe('wait');
  });

  it('can be a function that duplicates a cluster, as the error message suggests', () => {
    const made = createClient(
      (overrides) =>
        cluster.duplicate([], { ...overrides, redisOptions: { ...cluster.options.redisOptions, ...overrides } }),
      'commands',
    );
    expect(made).not.toBe(cluster);
    expect(made.status).toBe('wait');
  });
});
