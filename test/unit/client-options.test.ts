import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import {
  Cluster as Cluster5,
  type ClusterOptions as Options5OfClusters,
  Redis as Redis5,
  type RedisOptions as Options5,
} from 'ioredis-5';
import type { ConnectionOptions } from '../../lib/redis/options/connection-options.js';
import { resolveModuleOptions } from '../../lib/options/resolve-options.js';
import { clusterRules, type OptionRule, redisRules } from '../../lib/redis/options/client-options.js';
import { createClient, examineConnection } from '../../lib/redis/connection/redis-client.js';

/** Both supported majors; the compiler checks the module only against the newer one. */
const majors = [
  { major: 6, Redis, Cluster },
  { major: 5, Redis: Redis5 as unknown as typeof Redis, Cluster: Cluster5 as unknown as typeof Cluster },
];
redisRules satisfies Record<keyof Options5, OptionRule>;
clusterRules satisfies Record<keyof Options5OfClusters, OptionRule>;

const NODES = [{ host: 'redis.internal', port: 7000 }];
const none = () => undefined;

/** A value for each option that is passed on. */
const PASSED_ON: Readonly<Record<string, unknown>> = {
  autoPipeliningIgnoredCommands: ['ping'],
  natMap: { 'a:1': { host: 'b', port: 2 } },
  host: 'redis.internal',
  port: 6380,
  family: 6,
  path: '/run/redis.sock',
  tls: { servername: 'redis.internal' },
  username: 'app',
  password: 'secret',
  db: 3,
  Connector: class {},
  name: 'primary',
  sentinelUsername: 'app',
  sentinelPassword: 'secret',
  sentinelTLS: { servername: 'sentinel.internal' },
  enableTLSForSentinelMode: true,
  sentinelCommandTimeout: 500,
  sentinelMaxConnections: 3,
  sentinelReconnectStrategy: none,
  updateSentinels: false,
  failoverDetector: true,
  connectTimeout: 500,
  keepAlive: 1000,
  noDelay: false,
  protocol: 2,
  clientInfoTag: 'orders',
  disableClientInfo: true,
  offlineQueue: true,
  commandQueue: true,
  blockingTimeoutGrace: 50,
  dnsLookup: none,
  resolveSrv: none,
  useSRVRecords: true,
  slotsRefreshTimeout: 500,
  slotsRefreshInterval: 0,
};

/** Passed on, and covered by tests of their own. */
const TOGETHER = ['redisOptions', 'sentinels'];

/** Values for the overridden options that ioredis itself checks. */
const OWN: Readonly<Record<string, unknown>> = {
  scripts: { own: { lua: 'return 1' } },
  himportFieldsets: [{ name: 'own', fields: ['a'] }],
  scaleReads: 'slave',
};

const namesOf = (rules: Readonly<Record<string, OptionRule>>, fate: OptionRule['fate']) =>
  Object.keys(rules).filter((name) => rules[name]!.fate === fate);
const single = (name: string, value: unknown): ConnectionOptions => ({ [name]: value });
const cluster = (name: string, value: unknown): ConnectionOptions => ({
  cluster: { nodes: NODES, options: { [name]: value } },
});

describe.each(majors)('with ioredis $major', ({ Redis, Cluster }) => {
  it('all options have a rule', () => {
    expect(Object.keys(redisRules)).toEqual(
      expect.arrayContaining(Object.keys(new Redis({ lazyConnect: true }).options)),
    );
    const { options } = new Cluster(NODES, { lazyConnect: true });
    expect(Object.keys(clusterRules)).toEqual(expect.arrayContaining(Object.keys(options)));
  });

  it.each(namesOf(redisRules, 'overridden'))(
    '%s is overridden in a client created by a function, and rejected if the function insists on it',
    (name) => {
      const own = { [name]: OWN[name] ?? 'own' };
      const client = createClient((overrides) => new Redis({ ...own, ...overrides }), 'commands') as Redis;
      expect(client.options).not.toMatchObject(own);
      const ownLast = () => createClient((overrides) => new Redis({ ...overrides, ...own }), 'commands');
      expect(ownLast).toThrow(`given overrides last, but its client has its own ${name}:`);
    },
  );

  it.each(namesOf(clusterRules, 'overridden'))(
    '%s is overridden in a cluster created by a function, and rejected if the function insists on it',
    (name) => {
      const own = { [name]: OWN[name] ?? 'own' };
      const make = (options: ClusterOptions) => new Cluster(NODES, options);
      const ownFirst = (overrides: RedisOptions) => make({ ...own, ...overrides, redisOptions: overrides });
      expect(createClient(ownFirst, 'commands').options).not.toMatchObject(own);
      const ownLast = (overrides: RedisOptions) => make({ ...overrides, ...own, redisOptions: overrides });
      expect(() => createClient(ownLast, 'commands')).toThrow(
        `given overrides last, but its client has its own ${name}:`,
      );
    },
  );

  it.each(namesOf(redisRules, 'refused'))('%s is rejected if a client created by a function has it', (name) => {
    const make = (overrides: RedisOptions) => new Redis({ [name]: 'slave', ...overrides });
    expect(() => createClient(make, 'commands')).toThrow(`creates a client whose ${name} would`);
  });

  it.each(['redis://host?connectTimeout=500', 'redis://host?tls=true', 'redis://host/abc'])(
    'an option of the wrong type is rejected if a client created by a function has it: %s',
    (url) => {
      const make = (overrides: RedisOptions) => new Redis(url, overrides);
      expect(() => createClient(make, 'commands')).toThrow(/creates a client whose (connectTimeout|tls|db) (is|must)/);
    },
  );

  it('an error about an invalid URL in a function does not reveal its password', () => {
    const make = (overrides: RedisOptions) => new Redis('redis://:s3cr#t@host', overrides);
    let error: unknown;
    try {
      createClient(make, 'commands');
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: 'INVALID_OPTION', message: expect.stringContaining('the function failed') });
    expect(inspect(error, { depth: Infinity, showHidden: true }).replaceAll(/^ +at .*$/gm, '')).not.toContain('s3cr');
  });

  it('an unknown option is rejected if a client created by a function has it', () => {
    const make = (overrides: RedisOptions) => new Redis({ hots: 'redis.internal', ...overrides } as RedisOptions);
    expect(() => createClient(make, 'commands')).toThrow('creates a client whose hots is not an option of ioredis');
  });

  it('a cluster created by a function is rejected unless the options of its connections are also overridden', () => {
    const make = (overrides: RedisOptions) => new Cluster(NODES, { ...overrides });
    expect(() => createClient(make, 'commands')).toThrow(/but its client has its own .*autoResubscribe/);
  });
});

describe.each([
  { of: 'a single server', rules: redisRules, connect: single, place: '' },
  { of: 'a cluster', rules: clusterRules, connect: cluster, place: 'cluster.options.' },
])('the options of $of', ({ rules, connect, place }) => {
  it.each(namesOf(rules, 'passed on').filter((name) => !TOGETHER.includes(name)))('%s is passed on', (name) => {
    const value = PASSED_ON[name];
    expect(value).toBeDefined();
    const connection = connect(name, value);
    expect(resolveModuleOptions({ connection }).connection).toBe(connection);
    expect(createClient(connection, 'commands').options).toMatchObject({ [name]: value });
  });

  it.each(namesOf(rules, 'overridden'))('%s is overridden and reported, with the reason', (name) => {
    const connection = connect(name, none);
    const ours = createClient(connect(name, undefined), 'wake-signals').options as Record<string, unknown>;
    const client = createClient(connection, 'wake-signals').options as Record<string, unknown>;
    expect(client[name]).not.toBe(none);
    expect(client[name]).toEqual(ours[name]);
    expect(examineConnection(connection).overridden).toEqual([
      { name: place + name, because: expect.stringMatching(/./) },
    ]);
  });

  it.each(namesOf(rules, 'refused'))('%s is rejected unless it is null', (name) => {
    expect(() => resolveModuleOptions({ connection: connect(name, 'slave') })).toThrow(
      `connection.${place}${name} would`,
    );
    expect(() => resolveModuleOptions({ connection: connect(name, null) })).not.toThrow();
  });
});

describe('the options of a connection', () => {
  it('make connections detect failovers by default if there are sentinels', () => {
    const connection = { sentinels: [{ host: 'sentinel.internal' }], name: 'primary' };
    const detectorOf = (options: ConnectionOptions) =>
      (createClient(options, 'commands') as Redis).options.failoverDetector;
    expect(detectorOf(connection)).toBe(true);
    expect(detectorOf({ ...connection, failoverDetector: false })).toBe(false);
    expect(detectorOf({ host: 'redis.internal' })).toBe(false);
  });

  it('are passed on for sentinels and for the connections of a cluster', () => {
    const sentinels = [{ host: 'sentinel.internal', port: 26379 }];
    expect(createClient({ sentinels, name: 'primary' }, 'commands').options).toMatchObject({
      sentinels,
      name: 'primary',
    });
    const { options } = createClient(cluster('redisOptions', { password: 'secret', retryStrategy: none }), 'commands');
    expect(options).toMatchObject({ redisOptions: { password: 'secret', autoResubscribe: false } });
    expect((options as ClusterOptions).redisOptions).not.toHaveProperty('retryStrategy', none);
  });

  it("are rejected with ioredis's message if ioredis rejects them", () => {
    class Connector {
      constructor() {
        throw new Error('no such data center');
      }
    }
    expect(() => createClient({ Connector } as unknown as ConnectionOptions, 'commands')).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringContaining('no such data center') }),
    );
  });

  it('can be given as a URL with a query', () => {
    const url =
      'rediss://app:p%40ss%23@[::1]:6380/2?connectTimeout=500&noDelay=false&enableAutoPipelining=true&family=6';
    expect(createClient(url, 'commands').options).toMatchObject({
      host: '::1',
      port: 6380,
      db: 2,
      username: 'app',
      password: 'p@ss#',
      tls: {},
      connectTimeout: 500,
      noDelay: false,
      family: 6,
      enableAutoPipelining: false,
    });
    expect(examineConnection(url).overridden.map(({ name }) => name)).toEqual(['enableAutoPipelining']);
  });

  it('apply the login of the first cluster node to all nodes', () => {
    const nodes = ['rediss://app:secret@a:7000', 'b:7001'];
    const optionsOf = (options: ClusterOptions) =>
      (createClient({ cluster: { nodes, options } }, 'commands').options as ClusterOptions).redisOptions;
    expect(optionsOf({})).toMatchObject({ username: 'app', password: 'secret', tls: {} });
    expect(optionsOf({ redisOptions: { username: 'own' } })).toMatchObject({ username: 'own', password: 'secret' });
  });

  it('are read from each node of a cluster, whether it is a URL, an address, a port or an object', () => {
    const nodes = ['redis://:secret@a:7000', 'b:7001', 7002, { host: 'd', port: 7003, enableAutoPipelining: true }];
    const connection = { cluster: { nodes } };
    const client = createClient(connection, 'commands') as unknown as { readonly startupNodes: unknown };
    expect(client.startupNodes).toEqual([
      { username: '', password: 'secret', host: 'a', port: 7000 },
      { host: 'b', port: 7001 },
      { port: 7002 },
      { host: 'd', port: 7003 },
    ]);
    expect(examineConnection(connection).overridden.map(({ name }) => name)).toEqual([
      'cluster.nodes.3.enableAutoPipelining',
    ]);
  });

  it.each<[unknown, string]>([
    [{ hots: 'redis.internal' }, 'connection.hots is not an option of ioredis; did you mean host?'],
    [{ toString: 1 }, 'connection.toString is not an option of ioredis'],
    [{ db: NaN }, 'connection.db must be a whole number from 0'],
    [{ db: -1 }, 'connection.db must be a whole number from 0'],
    [{ connectTimeout: -1 }, 'connection.connectTimeout must be a whole number from 0'],
    [{ port: 99999 }, 'connection.port must be a whole number from 1 to 65535'],
    [{ tls: { cert: 'no certificate' } }, 'connection.tls must be TLS options of Node.js'],
    [{ sentinels: [] }, 'connection.sentinels must be a list of at least one sentinel'],
    [{ sentinels: [null] }, 'connection.sentinels must be a list of at least one sentinel'],
    [{ sentinels: [{}] }, 'connection.sentinels need the name of the primary that they watch: set `name`'],
    [{ sentinels: [{}], name: '' }, 'connection.sentinels need the name of the primary'],
    [{ cluster: { nodes: [{ sentinels: [{}] }] } }, 'connection.cluster.nodes.0.sentinels do not watch clusters'],
    [{ natMap: { 'a:1': 2 } }, "connection.natMap must be an object that maps 'host:port'"],
    [{ Connector: {} }, 'connection.Connector must be a function'],
    [{ tls: {}, role: 'slave' }, 'connection.role would lead to a replica'],
    ['redis://host/abc', 'connection.db must be a whole number from 0'],
    ['redis://host?hots=1', 'connection.hots is not an option of ioredis'],
    ['redis://host?role=slave', 'connection.role would lead to a replica'],
    ['redis://host?sentinels=a', 'connection.sentinels must be a list of at least one sentinel'],
    ['redis://host?password=a&s3cr', 'the password before the host'],
    ['redis://:s3cr#t@host', 'percent-encode'],
    ['redis://:s3cr/t@host', 'percent-encode'],
    ['redis://:s3cr?t@host', 'percent-encode'],
    ['redis://app:12/s3cr@host', 'percent-encode'],
    ['redis://app:12?s3cr@host', 'percent-encode'],
    ['redis://app:12#s3cr@host', 'percent-encode'],
    ['redis://:s3cr%t@host', 'percent-encode'],
    ['redis://:s3cr@host:99999', 'a port from 1 to 65535'],
    [{ cluster: { nodes: ['redis://:s3cr#t@host'] } }, 'connection.cluster.nodes.0 is not a valid URL'],
    [
      { cluster: { nodes: NODES, options: { redisOptions: { db: -1 } } } },
      'connection.cluster.options.redisOptions.db is not possible: the module uses only database 0 of a cluster',
    ],
    [{ cluster: { nodes: ['redis://a:7000/1'] } }, 'connection.cluster.nodes.0.db is not possible'],
    [
      { cluster: { nodes: NODES, options: { dnsLookup: {} } } },
      'connection.cluster.options.dnsLookup must be a function',
    ],
    [{ cluster: { nodes: [[]] } }, 'connection.cluster.nodes.0 must be an options object'],
    [{ cluster: { nodes: NODES, option: {} } }, 'connection.cluster.option is not an option'],
    [{ cluster: { nodes: NODES }, tls: {} }, 'connection.tls is not an option'],
  ])('are rejected if they are invalid, without revealing a password: %j', (connection, problem) => {
    let error: unknown;
    try {
      resolveModuleOptions({ connection: connection as ConnectionOptions });
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: 'INVALID_OPTION', message: expect.stringContaining(problem) });
    expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain('s3cr');
  });
});
