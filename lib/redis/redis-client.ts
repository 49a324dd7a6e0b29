import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { isStrayPromise, showFailure } from '../message/failure.js';
import type { ClusterConnection, ConnectionFactory, ConnectionOptions } from './connection-options.js';
import {
  clusterOverrides,
  type OptionProblem,
  type OverriddenOption,
  readClusterNode,
  readClusterOptions,
  readRedisOptions,
  redisOverrides,
  under,
} from './read-client-options.js';
import { withoutHost, withoutSecrets } from './redis-errors.js';

export type RedisClient = Redis | Cluster;

/** The purpose of a connection; part of its name in `CLIENT LIST`. */
export type ConnectionRole = 'commands' | 'announcements' | 'doorbell';

/** Finds problems and overridden options in a connection. Of a function nothing is known until it has made a client. */
export function examineConnection(connection: ConnectionOptions): {
  readonly problems: readonly OptionProblem[];
  readonly overridden: readonly OverriddenOption[];
} {
  if (typeof connection === 'function') return { problems: [], overridden: [] };
  if (!isCluster(connection)) return readRedisOptions(connection);
  const { nodes, options } = connection.cluster;
  const parts = [
    ...nodes.map((node, i) => under(['cluster', 'nodes', String(i)], readClusterNode(node))),
    under(['cluster', 'options'], readClusterOptions(options)),
  ];
  return {
    problems: parts.flatMap(({ problems }) => problems),
    overridden: parts.flatMap(({ overridden }) => overridden),
  };
}

/**
 * Creates a client, not connected yet, from options that have been examined.
 *
 * The client neither queues nor repeats commands. The sender of a command learns at once that it was not sent, or that its
 * outcome is unknown, and decides what to do.
 *
 * @throws DelayQueueError `INVALID_OPTION`
 */
export function createClient(connection: ConnectionOptions, role: ConnectionRole): RedisClient {
  const overrides = { ...redisOverrides, connectionName: `delay-queue:${role}` };
  if (typeof connection === 'function') return fromFactory(connection, overrides);
  try {
    if (!isCluster(connection)) return new Redis({ ...readRedisOptions(connection).values, ...overrides });
    const { nodes, options } = connection.cluster;
    const { redisOptions, ...values } = readClusterOptions(options).values;
    const startNodes = nodes.map((node) => readClusterNode(node).values);
    return new Cluster(startNodes, {
      ...values,
      ...clusterOverrides,
      redisOptions: { ...loginOf(startNodes[0]), ...redisOptions, ...overrides },
    });
  } catch (error) {
    throw new DelayQueueError('INVALID_OPTION', `connection: ioredis does not accept it: ${(error as Error).message}`);
  }
}

/** The login of the first node, for all nodes: ioredis would not use it for nodes that the cluster lists at another address. */
function loginOf({ username, password, tls }: RedisOptions = {}): RedisOptions {
  return { ...(password !== undefined && { username, password }), ...(tls && { tls }) };
}

/**
 * Refuses a client that may be shared: the module would subscribe with it, block on it and close it. A client that the
 * overrides keep from connecting is not in use yet.
 */
function fromFactory(factory: ConnectionFactory, overrides: RedisOptions): RedisClient {
  const client = callFactory(factory, { ...clusterOverrides, ...overrides });
  if (isStrayPromise(client) || (client as RedisClient | undefined)?.status !== 'wait') {
    throw misused('must return a new ioredis client for each call, created with the given overrides');
  }
  const { problems, others } = client.isCluster
    ? examineCluster(client as Cluster, overrides)
    : examine(client as Redis, overrides);
  if (others.length > 0)
    throw misused(`must apply the given overrides last, but its client has its own ${others.join(', ')}`);
  if (problems.length > 0) throw misused(`creates a client whose ${describeProblems(problems)}`);
  // ioredis takes a part of a password with an `@` that a URL does not encode for the host.
  client.on('error', withoutHost);
  return client;
}

/** Removes secrets from errors: for a URL that it cannot read, ioredis throws an error that contains it, password and all. */
function callFactory(factory: ConnectionFactory, overrides: RedisOptions): RedisClient {
  try {
    return factory(overrides);
  } catch (error) {
    throw new DelayQueueError('INVALID_OPTION', `connection: the function failed: ${showFailure(error)}`, {
      cause: withoutSecrets(error),
    });
  }
}

function examine({ options }: Redis, overrides: RedisOptions): ExaminedClient {
  const own = ownOptions(options);
  const { values, problems } = readRedisOptions(own);
  return { problems: [...problems, ...leftAsText(own, values)], others: notInForce(overrides, options) };
}

/** ioredis leaves the values in a URL's query as text, and fails later. */
function leftAsText(own: object, values: object): OptionProblem[] {
  const read = values as Readonly<Record<string, unknown>>;
  return Object.entries(own).flatMap(([name, value]) =>
    typeof value === 'string' && name in read && typeof read[name] !== 'string'
      ? [{ path: [name], message: 'is left as text by ioredis: set it as an option instead of in the URL' }]
      : [],
  );
}

function examineCluster({ options }: Cluster, overrides: RedisOptions): ExaminedClient {
  const redisOptions = options.redisOptions ?? {};
  return {
    problems: readClusterOptions({ ...ownOptions(options), redisOptions: ownOptions(redisOptions) }).problems,
    others: [...notInForce(clusterOverrides, options), ...notInForce(overrides, redisOptions)],
  };
}

interface ExaminedClient {
  readonly problems: readonly OptionProblem[];
  /** The names of the overrides that are not in force. */
  readonly others: readonly string[];
}

/** The options without the overrides. The function gets those of both levels, because it may create clients of either kind. */
function ownOptions(options: object): object {
  return Object.fromEntries(
    Object.entries(options).filter(([name]) => !(name in clusterOverrides || name in redisOverrides)),
  );
}

function notInForce(overrides: object, options: object): string[] {
  const inForce = options as Readonly<Record<string, unknown>>;
  return Object.entries(overrides).flatMap(([name, value]) =>
    (inForce[name] ?? undefined) === (value ?? undefined) ? [] : [name],
  );
}

const describeProblems = (problems: readonly OptionProblem[]) =>
  problems.map(({ path, message }) => `${path.join('.') || 'options'} ${message}`).join('; ');

function misused(problem: string): DelayQueueError {
  return new DelayQueueError(
    'INVALID_OPTION',
    `connection: the function ${problem}: (overrides) => new Redis({ ...yours, ...overrides }), ` +
      'or new Cluster(nodes, { ...yours, ...overrides, redisOptions: { ...yours, ...overrides } })',
  );
}

export function isCluster(connection: ConnectionOptions): connection is ClusterConnection {
  return typeof connection === 'object' && 'cluster' in connection;
}
