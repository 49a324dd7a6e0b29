import type { Cluster, ClusterNode, ClusterOptions, Redis, RedisOptions } from 'ioredis';

/**
 * Creates a new client for each call, with the given overrides applied after your own options. The module calls it once for
 * commands, once for announcements and once for each consumer, and closes these clients when the application shuts down. If it
 * returns a `Cluster`, it is called once: all connections to the servers of the cluster get its options.
 * Returning an existing client, or one that lacks the overrides, fails with `INVALID_OPTION`. A cluster needs the overrides
 * twice: `new Cluster(nodes, { ...yours, ...overrides, redisOptions: { ...yours, ...overrides } })`.
 *
 * @param overrides - the options that the module needs; put them last
 * @returns a client that is not connected yet
 *
 * @example
 * ```ts
 * DelayQueueModule.forRoot({ connection: (overrides) => new Redis({ host: 'redis.internal', ...overrides }) });
 * ```
 */
export type ConnectionFactory = (overrides: RedisOptions) => Redis | Cluster;

/**
 * Where Redis is: a `redis:` or `rediss:` URL, ioredis options, a cluster, or a function that creates clients. The module sets
 * some options of ioredis itself: `docs/operations.md` lists them.
 */
export type ConnectionOptions =
  | string
  | RedisOptions
  | {
      /** A Redis Cluster: the arguments of ioredis' `Cluster`. */
      readonly cluster: {
        /** At least one node to start from; the others are discovered. */
        readonly nodes: ClusterNode[];
        /** Options of the cluster and, in `redisOptions`, of its connections. Default: none. */
        readonly options?: ClusterOptions | undefined;
      };
    }
  | ConnectionFactory;

/** A Redis Cluster, described as for `new Cluster(nodes, options)` of ioredis. */
export type ClusterConnection = Extract<ConnectionOptions, { readonly cluster: object }>;
