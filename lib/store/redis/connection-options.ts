import type { Cluster, ClusterNode, ClusterOptions, Redis, RedisOptions } from 'ioredis';

/** A Redis Cluster, as `new Cluster(nodes, options)` of ioredis takes it. */
export interface ClusterConnection {
  /** The arguments of ioredis' `Cluster`. */
  readonly cluster: {
    /** Some nodes to start from. */
    readonly nodes: ClusterNode[];
    /** Options of the cluster and, as `redisOptions`, of its connections. */
    readonly options?: ClusterOptions;
  };
}

/**
 * Makes a client of its own for each call, with the given options on top of your own ones. The module calls it once for
 * commands, once for announcements and once for each consumer, and closes these clients when the application shuts down.
 * Returning a client that exists already, or one in which the overrides do not hold, fails with `INVALID_OPTION`. A cluster
 * takes them twice: `new Cluster(nodes, { ...yours, ...overrides, redisOptions: { ...yours, ...overrides } })`.
 *
 * @example
 * ```ts
 * DelayQueueModule.forRoot({ connection: (overrides) => new Redis({ host: 'redis.internal', ...overrides }) });
 * ```
 */
export type ConnectionFactory = (overrides: RedisOptions) => Redis | Cluster;

/**
 * Where Redis is: a `redis:` or `rediss:` URL, ioredis options, a cluster, or a factory of clients. Some options of ioredis are
 * the module's own: `docs/operations.md` lists them.
 */
export type ConnectionOptions = string | RedisOptions | ClusterConnection | ConnectionFactory;
