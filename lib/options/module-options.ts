import type { Cluster, ClusterNode, ClusterOptions, Redis, RedisOptions } from 'ioredis';
import type { Duration } from '../message/duration.js';
import type { QueueOptions } from './queue-options.js';

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

/** What `DelayQueueModule.forRoot()` takes. All optional. */
export interface DelayQueueModuleOptions {
  /**
   * Where Redis is: a URL, ioredis options, `{ cluster: { nodes, options } }`, or a factory of clients. Not used with
   * `store: 'memory'`.
   *
   * @defaultValue `'redis://127.0.0.1:6379'`
   */
  readonly connection?: ConnectionOptions;
  /**
   * Where messages live: `'redis'`, or `'memory'` for tests and trying out. Those in memory die with the process.
   *
   * @defaultValue `'redis'`
   */
  readonly store?: 'redis' | 'memory';
  /**
   * First part of every key. 1–64 of the characters `A–Z a–z 0–9 _ . : -`.
   *
   * @defaultValue `'delay-queue'`
   */
  readonly prefix?: string;
  /**
   * Start although Redis may evict messages when its memory is full. Otherwise a `maxmemory-policy` that evicts any key is
   * refused.
   *
   * @defaultValue `false`
   */
  readonly allowEviction?: boolean;
  /**
   * Start the handlers; with `false`, this process only offers.
   *
   * @defaultValue `true`
   */
  readonly consume?: boolean;
  /**
   * Options of every queue.
   *
   * @defaultValue `{}`
   */
  readonly defaults?: QueueOptions;
  /**
   * Options by queue name. They override those of the queue's `@DelayedHandler`, which override `defaults`.
   *
   * @defaultValue `{}`
   */
  readonly queues?: Readonly<Record<string, QueueOptions>>;
  /**
   * How long a stopping process waits for running handlers. 0 ms – 1 h.
   *
   * @defaultValue `'10s'`
   */
  readonly shutdownTimeout?: Duration;
  /**
   * How long an offer, or another call of the producer, may take before it fails. 10 ms – 10 min.
   *
   * @defaultValue `'5s'`
   */
  readonly offerTimeout?: Duration;
}

/** Implemented by a class given to `forRootAsync({ useClass })` or `useExisting`. */
export interface DelayQueueOptionsFactory {
  /** Called once, at start-up. */
  createDelayQueueOptions(): DelayQueueModuleOptions | Promise<DelayQueueModuleOptions>;
}
