import type { Duration } from '../message/duration.js';
import type { CodecName, PayloadCodec } from '../codec/redisson/payload-codec.js';
import type { EntryFormat } from '../store/redisson/entry-format.js';

/** How long a failed message waits before its next attempt. */
export type BackoffOptions = FixedBackoff | ExponentialBackoff | BackoffFunction;

/** The same wait before every attempt. */
export interface FixedBackoff {
  /** Tells the kind. */
  readonly type: 'fixed';
  /** The wait. 0 ms – 100 years. */
  readonly delay: Duration;
  /**
   * Share of the wait by which it varies at random. 0–1.
   *
   * @defaultValue `0`
   */
  readonly jitter?: number;
}

/** A wait that grows with each failed attempt: `delay × factor^(failed attempts − 1)`, at most `maxDelay`. */
export interface ExponentialBackoff {
  /** Tells the kind. */
  readonly type: 'exponential';
  /**
   * The wait after the first failed attempt. 0 ms – 100 years.
   *
   * @defaultValue `'1s'`
   */
  readonly delay?: Duration;
  /**
   * By how many times the wait grows with each failed attempt. 1–100.
   *
   * @defaultValue `2`
   */
  readonly factor?: number;
  /**
   * The longest wait. 0 ms – 100 years.
   *
   * @defaultValue `'1h'`
   */
  readonly maxDelay?: Duration;
  /**
   * Share of the wait by which it varies at random. 0–1.
   *
   * @defaultValue `0.2`
   */
  readonly jitter?: number;
}

/**
 * Computes the wait from the attempt that failed (1 for the first) and its error. If it throws, or returns something that
 * is no duration, the default backoff is used and the mistake is logged.
 */
export type BackoffFunction = (attempt: number, error: unknown) => Duration;

/** What can be set for one queue. All optional. */
export interface QueueOptions {
  /**
   * How many messages of the queue a process handles at once. 1–1000.
   *
   * @defaultValue `16`
   */
  readonly concurrency?: number;
  /**
   * How long a claimed message belongs to its consumer; extended while the handler runs. 1 s – 24 h. After a crash, the
   * message comes back when its lease ends.
   *
   * @defaultValue `'30s'`
   */
  readonly lease?: Duration;
  /**
   * How many attempts a message has before it is a dead letter. 1–1,000,000.
   *
   * @defaultValue `5`
   */
  readonly attempts?: number;
  /**
   * The wait before a failed message's next attempt: exponential, fixed, or a function.
   *
   * @defaultValue `{ type: 'exponential', delay: '1s', factor: 2, maxDelay: '1h', jitter: 0.2 }`
   */
  readonly backoff?: BackoffOptions;
  /**
   * How long a handler may run before its `signal` aborts, the attempt counts as failed and its slot is free again.
   * 1 ms – 24 h, or `'none'`.
   *
   * @defaultValue `'none'`
   */
  readonly timeout?: Duration | 'none';
  /**
   * The most bytes of a message's encoded payload and headers. 1 byte – 512 MiB.
   *
   * @defaultValue `256 * 1024`
   */
  readonly maxPayloadBytes?: number;
  /**
   * The most messages in the queue, in all states together; further offers are refused. At least 1, or `'unlimited'`.
   *
   * @defaultValue `'unlimited'`
   */
  readonly maxMessages?: number | 'unlimited';
  /**
   * The most dead letters; beyond it the oldest is dropped, with a warning in the log. 0–10,000,000.
   *
   * @defaultValue `10_000`
   */
  readonly maxDeadLetters?: number;
  /**
   * How often the next due time is looked up in any case, so that a lost announcement delays a message by no more.
   * 1 s – 1 h.
   *
   * @defaultValue `'60s'`
   */
  readonly checkInterval?: Duration;
  /**
   * How long an idle consumer blocks before it asks anew; a connection that died silently is noticed 5 s later.
   * 1 s – 10 min.
   *
   * @defaultValue `'25s'`
   */
  readonly blockTimeout?: Duration;
  /**
   * How messages are laid out in Redis: `'native'`, or `'redisson'` for one queue with Java. The latter is byte for byte that of
   * Redisson's `RDelayedQueue` (`docs/redisson.md`).
   *
   * @defaultValue `'native'`
   */
  readonly layout?: 'native' | 'redisson';
  /**
   * How payloads become bytes: `'json'`, `'string'`, `'buffer'`, `'jackson'`, `'kryo5'` (texts only) or a codec of your own.
   * With `layout: 'redisson'` it must be that of the Java side. `layout: 'native'` takes only `'json'`, where a `Buffer` stays
   * bytes, too.
   *
   * @defaultValue `'json'`
   */
  readonly codec?: CodecName | PayloadCodec;
  /**
   * How entries are written with `layout: 'redisson'`: `'Bc0Lc0'` as Redisson 3.21.1 and later, `'dLc0'` as those before. Both
   * are read.
   *
   * @defaultValue `'Bc0Lc0'`
   */
  readonly format?: EntryFormat;
  /**
   * The queue's name in Redisson, with `layout: 'redisson'`, where that is another. 1–512 characters; braces only as one pair
   * around something. It is another with a hash tag, with characters that a queue's name here cannot have, or with what a
   * `NameMapper` adds.
   *
   * @defaultValue the queue's name
   */
  readonly redissonName?: string;
}
