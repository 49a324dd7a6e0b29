import type { Cluster, ClusterNode, ClusterOptions, Redis, RedisOptions } from 'ioredis';
import type { Duration } from './message/duration.js';
import type { PayloadCodec } from './codec/redisson/payload-codec.js';

/** How long a failed message waits before its next attempt. */
export type BackoffOptions = FixedBackoff | ExponentialBackoff | BackoffFunction;

/** The same wait before every attempt. */
export interface FixedBackoff {
  /** Tells the kind. */
  readonly type: 'fixed';
  /** 0 ms – 100 years. */
  readonly delay: Duration;
  /** Share of the delay by which it varies at random, 0–1. Default 0. */
  readonly jitter?: number;
}

/** A wait that grows with each failed attempt: `delay × factor^(failed attempts − 1)`, at most `maxDelay`. */
export interface ExponentialBackoff {
  /** Tells the kind. */
  readonly type: 'exponential';
  /** After the first failed attempt; 0 ms – 100 years. Default 1 s. */
  readonly delay?: Duration;
  /** 1–100. Default 2. */
  readonly factor?: number;
  /** The longest wait. Default 1 h. */
  readonly maxDelay?: Duration;
  /** Share of the delay by which it varies at random, 0–1. Default 0.2. */
  readonly jitter?: number;
}

/**
 * Computes the wait from the attempt that failed (1 for the first) and its error. If it throws, or returns something that
 * is no duration, the default backoff is used and the mistake is logged.
 */
export type BackoffFunction = (attempt: number, error: unknown) => Duration;

/** A codec of Redisson's that comes with this package. */
export type CodecName = 'json' | 'string' | 'buffer' | 'jackson' | 'kryo5';

/** How Redisson packs a payload into an entry: `'Bc0Lc0'` since 3.21.1, `'dLc0'` before. */
export type EntryFormat = 'Bc0Lc0' | 'dLc0';

/** What can be set for one queue. All optional. */
export interface QueueOptions {
  /** How many messages a process handles at once, 1–1000. Default 16. */
  readonly concurrency?: number;
  /**
   * How long a claimed message belongs to its consumer; extended while the handler runs. After a crash, the message comes
   * back when its lease ends. 1 s – 24 h. Default 30 s.
   */
  readonly lease?: Duration;
  /** How many attempts a message has before it is a dead letter, 1–1,000,000. Default 5. */
  readonly attempts?: number;
  /** The wait before a failed message's next attempt. Default exponential, 1 s × 2, at most 1 h, ±20 %. */
  readonly backoff?: BackoffOptions;
  /**
   * How long a handler may run before its `signal` aborts, the attempt counts as failed and its slot is free again.
   * 1 ms – 24 h, or `'none'`. Default `'none'`.
   */
  readonly timeout?: Duration | 'none';
  /** The most bytes of a message's encoded payload and headers, 1 – 512 MiB. Default 256 KiB. */
  readonly maxPayloadBytes?: number;
  /** The most messages in the queue, in all states together; further offers are refused. Default `'unlimited'`. */
  readonly maxMessages?: number | 'unlimited';
  /** The most dead letters; beyond it the oldest is dropped, with a warning in the log. 0–10,000,000. Default 10,000. */
  readonly maxDeadLetters?: number;
  /**
   * After how long the next due time is looked up in any case, so that a lost announcement delays a message by no more.
   * 1 s – 1 h. Default 60 s.
   */
  readonly checkInterval?: Duration;
  /**
   * How long an idle consumer blocks before it asks anew; also how soon a connection that died silently is noticed (plus
   * 5 s). 1 s – 10 min. Default 25 s.
   */
  readonly blockTimeout?: Duration;
  /**
   * How the messages are laid out in Redis: this package's own way, or byte for byte as Redisson's `RDelayedQueue`, so that Java
   * and Node share the queue. Default `'native'`.
   */
  readonly layout?: 'native' | 'redisson';
  /**
   * How payloads become bytes. With `layout: 'redisson'` it must be that of the Java side (`docs/redisson.md`): `'json'`,
   * `'string'`, `'buffer'`, `'jackson'`, `'kryo5'` (texts only) or one of your own. Default `'json'`, the only one of
   * `'native'`, where a `Buffer` stays bytes, too.
   */
  readonly codec?: CodecName | PayloadCodec;
  /**
   * How entries are written with `layout: 'redisson'`; both are read. `'Bc0Lc0'`: as Redisson 3.21.1 and later, `'dLc0'`: as
   * those before. Default `'Bc0Lc0'`.
   */
  readonly format?: EntryFormat;
  /**
   * With `layout: 'redisson'`, the name of the queue as Redisson knows it, where that is another: with a hash tag, with
   * characters that a queue's name here cannot have, or with what a `NameMapper` adds. 1–512 characters; braces only as one
   * pair around something. Default: the queue's name.
   */
  readonly redissonName?: string;
}

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
  /** Default `redis://127.0.0.1:6379`. Not used with `store: 'memory'`. */
  readonly connection?: ConnectionOptions;
  /** `'memory'` keeps the messages in this process, for tests and trying out: they die with it. Default `'redis'`. */
  readonly store?: 'redis' | 'memory';
  /** First part of every key, `[A-Za-z0-9_.:-]{1,64}`. Default `delay-queue`. */
  readonly prefix?: string;
  /**
   * Start although the `maxmemory-policy` of Redis is one that evicts any key when memory is full, messages among them.
   * Default `false`: that is refused.
   */
  readonly allowEviction?: boolean;
  /** `false`: this process only offers; its handlers are not started. Default `true`. */
  readonly consume?: boolean;
  /** Options of every queue. */
  readonly defaults?: QueueOptions;
  /** Options by queue name. They override those of the queue's `@DelayedHandler`, which override `defaults`. */
  readonly queues?: Readonly<Record<string, QueueOptions>>;
  /** How long a stopping process waits for running handlers. 0 ms – 1 h. Default 10 s. */
  readonly shutdownTimeout?: Duration;
  /** After which an offer, or another call of the producer, fails instead of hanging. 10 ms – 10 min. Default 5 s. */
  readonly offerTimeout?: Duration;
}

/** Implemented by a class given to `forRootAsync({ useClass })` or `useExisting`. */
export interface DelayQueueOptionsFactory {
  /** Called once, at start-up. */
  createDelayQueueOptions(): DelayQueueModuleOptions | Promise<DelayQueueModuleOptions>;
}

/** Every default in one place, in the form in which a user would write it. */
export const DEFAULTS = {
  connection: 'redis://127.0.0.1:6379',
  store: 'redis',
  prefix: 'delay-queue',
  allowEviction: false,
  consume: true,
  shutdownTimeout: '10s',
  offerTimeout: '5s',
  queue: {
    concurrency: 16,
    lease: '30s',
    attempts: 5,
    backoff: { type: 'exponential', delay: '1s', factor: 2, maxDelay: '1h', jitter: 0.2 },
    timeout: 'none',
    maxPayloadBytes: 256 * 1024,
    maxMessages: 'unlimited',
    maxDeadLetters: 10_000,
    checkInterval: '60s',
    blockTimeout: '25s',
    layout: 'native',
    codec: 'json',
    format: 'Bc0Lc0',
  },
} as const;
