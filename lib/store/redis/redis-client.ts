import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { DelayQueueError } from '../../message/delay-queue.errors.js';
import { isStrayPromise, showFailure } from '../../message/failure.js';
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
import { withoutSecrets } from './redis-errors.js';

export type RedisClient = Redis | Cluster;

/** What a connection is for; part of its name in `CLIENT LIST`. */
export type ConnectionRole = 'commands' | 'announcements' | 'doorbell';

/** What of the options of a connection is wrong, and what the module overrides; a function is known by its clients only. */
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
 * Makes a client that is not connected yet, of options that have been examined.
 *
 * The client keeps no commands for later and repeats none by itself: whoever sends a command learns at once that it was
 * not sent, or that its outcome is unknown, and decides.
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
    throw new DelayQueueError('INVALID_OPTION', `connection: ioredis does not take it: ${(error as Error).message}`);
  }
}

/** It holds for all nodes: ioredis would use it for none that the cluster tells of, under another address. */
function loginOf({ username, password, tls }: RedisOptions = {}): RedisOptions {
  return { ...(password !== undefined && { username, password }), ...(tls && { tls }) };
}

/**
 * Of a shared client the module would subscribe with, block on and close what belongs to others; one that was told not to
 * connect yet by the overrides cannot be shared.
 */
function fromFactory(factory: ConnectionFactory, overrides: RedisOptions): RedisClient {
  const client = callFactory(factory, { ...clusterOverrides, ...overrides });
  if (isStrayPromise(client) || (client as RedisClient | undefined)?.status !== 'wait') {
    throw misused('must return a new ioredis client for each call, made with the overrides it is given');
  }
  const { problems, others } = client.isCluster
    ? examineCluster(client as Cluster, overrides)
    : examine(client as Redis, overrides);
  if (others.length > 0)
    throw misused(`must put the overrides that it is given last, but has its own ${others.join(', ')}`);
  if (problems.length > 0) throw misused(`makes a client whose ${describeProblems(problems)}`);
  return client;
}

/** ioredis, where it is given a URL that cannot be read, throws an error that shows it, password and all. */
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

/** ioredis leaves what a URL's query says as text, and fails later. */
function leftAsText(own: object, values: object): OptionProblem[] {
  const read = values as Readonly<Record<string, unknown>>;
  return Object.entries(own).flatMap(([name, value]) =>
    typeof value === 'string' && name in read && typeof read[name] !== 'string'
      ? [{ path: [name], message: 'is left as text by ioredis: give it as an option rather than in a URL' }]
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
  /** Of the overrides, those that are not in force. */
  readonly others: readonly string[];
}

/** Without the overrides: those of both levels are handed to a function that makes clients of either kind. */
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
