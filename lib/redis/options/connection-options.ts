import type { Cluster, ClusterNode, ClusterOptions, Redis, RedisOptions } from 'ioredis';
import { isInstance, isStrayPromise } from '../../message/failure.js';
import { isLiteral } from '../../message/read-fields.js';
import { kindOf } from '../../message/show-given.js';
import { clusterRules, type OptionProblem, redisRules } from './client-options.js';

/**
 * Where Redis is: a `redis:` or `rediss:` URL, ioredis options, a cluster, or a function that creates clients. The module sets some ioredis
 * options itself: see `docs/operations.md`.
 *
 * A function creates a new, unconnected client at each call. It must apply the given overrides after your own options. The module calls it
 * once for commands, once for announcements and once for each consumer, and closes the clients when the application shuts down. A function
 * that returns a `Cluster` is called once, and connections to all servers of the cluster get its options. Returning an existing client, or
 * one that lacks the overrides, fails with `INVALID_OPTION`. A cluster needs the overrides twice: `new Cluster(nodes, { ...yours,
 * ...overrides, redisOptions: { ...yours, ...overrides } })`.
 * @example
 * ```ts
 * DelayQueueModule.forRoot({ connection: (overrides) => new Redis({ host: 'redis.internal', ...overrides }) });
 * ```
 */
export type ConnectionOptions =
  | string
  | RedisOptions
  | {
      /** A Redis Cluster: the arguments of ioredis' `Cluster`. */
      readonly cluster: {
        /** At least one node to start from. The rest are discovered. */
        readonly nodes: ClusterNode[];
        /** Options of the cluster and, in `redisOptions`, of its connections. Default: none. */
        readonly options?: ClusterOptions | undefined;
      };
    }
  | ((overrides: RedisOptions) => Redis | Cluster);

export type ConnectionFactory = Extract<ConnectionOptions, CallableFunction>;

export type ClusterConnection = Extract<ConnectionOptions, { readonly cluster: object }>;

const RULE =
  'must be a redis:// or rediss:// URL, ioredis options such as { host, port }, { cluster: { nodes } } or a function ' +
  'that makes clients';

const CLUSTER_RULE = "must be { nodes, options? }, such as { nodes: [{ host: 'redis-1', port: 6379 }] }";

const NODES_RULE = "must be a non-empty array, such as [{ host: 'redis-1', port: 6379 }]";

export function isCluster(connection: ConnectionOptions): connection is ClusterConnection {
  const { cluster } = (typeof connection === 'object' ? connection : {}) as { readonly cluster?: unknown };
  return cluster !== undefined && cluster !== null;
}

const PLACES = ['host', 'port', 'path', 'sentinels', 'Connector'] as const satisfies readonly (keyof RedisOptions)[];

/** True if no server is named, in which case ioredis would connect to one on this machine. */
export function namesNoServer(connection: ConnectionOptions | undefined): boolean {
  if (connection === undefined) return true;
  if (typeof connection !== 'object' || isCluster(connection)) return false;
  const options: RedisOptions = connection;
  return PLACES.every((name) => options[name] === undefined || options[name] === null);
}

/** Checks the shape of a connection; its options are checked elsewhere. @returns a description of what was given instead, and the fix */
export function problemsOfShape(connection: unknown): readonly OptionProblem[] {
  const problem = problemOf(connection);
  if (problem !== undefined) return [{ path: [], message: problem }];
  return isCluster(connection as ConnectionOptions) ? problemsOfCluster(connection as ClusterConnection) : [];
}

function problemOf(given: unknown): string | undefined {
  if (typeof given === 'string') return undefined;
  if (typeof given === 'function') return isClass(given) ? A_CLASS : undefined;
  if (typeof given !== 'object' || given === null) return `${RULE}, not ${kindOf(given)}`;
  if (isStrayPromise(given)) return 'is a promise: await it in the useFactory of DelayQueueModule.forRootAsync()';
  if (Array.isArray(given)) {
    return 'is an array: for a cluster, give { cluster: { nodes: [...] } }; for sentinels, { sentinels: [...], name }';
  }
  if (isInstance(given, URL)) return 'is a URL object: give its text, url.href';
  // All fields of this object are inherited, and would be lost.
  if (Object.keys(given).length === 0 && !isLiteral(given)) return `${RULE}, not ${kindOf(given)}`;
  return asClient(given);
}

const A_CLASS = 'is a class: give a function that makes clients, (overrides) => new Redis({ ...yours, ...overrides })';

const isClass = (given: object) => /^class\b/.test(Function.prototype.toString.call(given));

/** Describes what is wrong with an object that is a client. Undefined if it is not a client. */
function asClient(given: object): string | undefined {
  if (!('duplicate' in given)) return undefined;
  if (!('isCluster' in given))
    return 'is a client of another library: give its URL, or ioredis options such as { host, port }';
  const duplicate = given.isCluster
    ? 'cluster.duplicate([], { ...overrides, redisOptions: { ...cluster.options.redisOptions, ...overrides } })'
    : 'client.duplicate(overrides)';
  const options = given.isCluster ? '{ cluster: { nodes, options } }' : 'its URL or its options';
  return `is an ioredis client, but several are needed: give ${options} instead, or a function, (overrides) => ${duplicate}`;
}

function problemsOfCluster({ cluster, ...others }: { readonly cluster: unknown }): readonly OptionProblem[] {
  const problem = problemOfCluster(cluster);
  if (problem) return [problem];
  const { nodes: _nodes, options: _options, ...more } = cluster as ClusterConnection['cluster'];
  const unknown = [...Object.keys(others).map((key) => [key]), ...Object.keys(more).map((key) => ['cluster', key])];
  return unknown.map((path) => ({ path, message: `is not an option of a cluster; ${placeInCluster(path.at(-1)!)}` }));
}

function problemOfCluster(cluster: unknown): OptionProblem | undefined {
  const path = ['cluster'];
  if (typeof cluster !== 'object' || cluster === null)
    return { path, message: `${CLUSTER_RULE}, not ${kindOf(cluster)}` };
  if (Array.isArray(cluster)) return { path, message: 'is an array: give { cluster: { nodes: [...] } }' };
  const client = asClient(cluster);
  if (client !== undefined) return { path, message: client };
  if (!('nodes' in cluster)) return { path, message: `${CLUSTER_RULE}, not an object without nodes` };
  const { nodes } = cluster;
  if (Array.isArray(nodes) && nodes.length > 0) return undefined;
  return { path: [...path, 'nodes'], message: `${NODES_RULE}, not ${kindOf(nodes)}` };
}

function placeInCluster(option: string): string {
  if (Object.hasOwn(clusterRules, option)) return 'it belongs in cluster.options';
  if (Object.hasOwn(redisRules, option)) return 'it belongs in cluster.options.redisOptions';
  return 'check its place and spelling';
}
