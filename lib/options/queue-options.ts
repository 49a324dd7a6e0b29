import type { Duration } from '../message/duration.js';
import type { QueueLayout } from '../store/layout.js';
import type { QueueEncryption } from '../message/encryption.js';
import type { MessageHeaders } from '../message/message.js';

export type { QueueEncryption, QueueLayout };

/**
 * How long a failed message waits before its next attempt. A function computes the wait from the failed attempt's number (from 1) and
 * error. If it throws, or returns anything but a duration of 0 ms – 100 years, the default backoff applies and the mistake is logged.
 * @example
 * ```ts
 * DelayQueueModule.forRoot({ defaults: { backoff: (attempt) => Math.min(attempt * 5000, 60_000) } });
 * ```
 */
export type BackoffOptions =
  | {
      /** The same wait before every attempt. */
      readonly type: 'fixed';
      /** The wait. 0 ms – 100 years. */
      readonly delay: Duration;
      /** The share of the wait by which it varies at random, up or down. 0–1. @defaultValue `0` */
      readonly jitter?: number | undefined;
    }
  | {
      /** A wait that grows with each failed attempt: `delay × factor^(failed attempts − 1)`, at most `maxDelay`. */
      readonly type: 'exponential';
      /** The wait after the first failed attempt. 0 ms – 100 years. @defaultValue `'1s'` */
      readonly delay?: Duration | undefined;
      /** The factor by which the wait grows with each failed attempt. 1–100. @defaultValue `2` */
      readonly factor?: number | undefined;
      /** The longest wait. 0 ms – 100 years. @defaultValue `'1h'` */
      readonly maxDelay?: Duration | undefined;
      /** The share of the wait by which it varies at random, up or down. 0–1. @defaultValue `0.2` */
      readonly jitter?: number | undefined;
    }
  | ((attempt: number, error: unknown) => Duration);

/** A {@link BackoffOptions} that can be stored with a message, which a function cannot. */
export type StoredBackoff = Exclude<BackoffOptions, CallableFunction>;

/** How often and when a message is retried. These options travel with it, whichever process handles it. */
export interface RetryOptions {
  /**
   * How many attempts the message has before it becomes a dead letter. 1–1,000,000. Not available in every layout. Default: the queue's
   * `attempts` in the process that handles the message.
   */
  readonly attempts?: number | undefined;
  /**
   * The wait before the message's next attempt: exponential or fixed, as in the queue's `backoff`, but not a function. Not available in every
   * layout. Default: the `backoff` of the handler or its queue.
   */
  readonly backoff?: StoredBackoff | undefined;
}

/** A message that repeats for a handler. */
export type HandlerRepeat = NonNullable<HandlerOptions['repeat']>;

/** The options of a queue that a handler of one type may override. */
export type HandlerSettings = Pick<QueueOptions, 'timeout' | 'backoff'>;

/** Names an instance of the module. */
export interface InstanceOptions {
  /** The `name` that `DelayQueueModule.forRoot()` was given. See `docs/instances.md`. @defaultValue the instance without a name */
  readonly instance?: string | undefined;
}

/** The options of a handler for one type of message. All are optional. */
export interface HandlerOptions extends Pick<QueueOptions, 'timeout' | 'backoff'>, InstanceOptions {
  /**
   * The maximum number of messages in one call; the handler gets an array of payloads and one of messages. `concurrency` then limits the
   * queue's simultaneous calls, each with a batch or a single message. 1–1000.
   * @defaultValue one message, not in an array
   */
  readonly batch?: number | undefined;
  /**
   * How long the first message of a batch waits for others. 0 ms – 1 h. With 0, a batch holds what is ready at the same moment.
   * @defaultValue `0`
   */
  readonly batchWait?: Duration | undefined;
  /**
   * True if a batch holds messages of one group only, or only messages without a group. Needs the queue's `groups` with a `concurrency` of
   * 2 or more, which is then also the maximum size of a batch. See `docs/groups.md`.
   * @defaultValue `false`
   */
  readonly batchPerGroup?: boolean | undefined;
  /**
   * A message that repeats, as with `producer.repeat`. Each process that handles the queue offers it at startup; the newest rule wins. A
   * rule whose `endsAt` has passed is not offered. Cannot have a `limit`, because a process that starts after the last occurrence would
   * begin to count anew. Not available for queue families, nor in every layout.
   * @defaultValue none
   */
  readonly repeat?:
    | (RepeatOptions & {
        readonly limit?: undefined;
        /** The message's id. Default: `'repeat'`, or `repeat:` and the handler's type. */
        readonly id?: string | undefined;
        /** The payload: JSON values or a `Buffer`. Default: `{}`. */
        readonly payload?: unknown;
      })
    | undefined;
}

/** The options of a handler for all types of message, including the options of its queue. All are optional. */
export interface QueueHandlerOptions extends QueueOptions, HandlerOptions {}

/**
 * The options of a typed queue. All are optional.
 * @typeParam Type - the queue's types
 */
export interface TypedQueueOptions<Type extends string = string> extends QueueOptions, InstanceOptions {
  /**
   * The `attempts` and `backoff` of messages of a type, such as `{ remind: { attempts: 3 } }`. Offers through the class give them to their
   * messages, unless they have their own. @defaultValue none
   */
  readonly types?: Readonly<Partial<Record<Type, RetryOptions | undefined>>> | undefined;
}

/** The options of a queue. All are optional. */
export interface QueueOptions {
  /** How many of the queue's messages a process handles at once. 1–1000. @defaultValue `16` */
  readonly concurrency?: number | undefined;
  /**
   * How many of the queue's messages all processes together handle at once; each process also keeps to its own `concurrency`. A message
   * counts from its claim until its outcome, so a batch of ten counts as ten. If a process dies, its messages count until their leases end.
   * 1–10,000, or `'unlimited'`. Not available with `partitions`, nor in every layout. See `docs/handlers.md`.
   * @defaultValue `'unlimited'`
   */
  readonly globalConcurrency?: number | 'unlimited' | undefined;
  /**
   * The number of hash slots in a Redis Cluster over which the queue's messages are spread by id, for a queue that is too busy for one
   * shard. It may grow while the queue is in use: processes configured with fewer use as many as there are. 1–256. See `docs/scaling.md`.
   * @defaultValue `1`
   */
  readonly partitions?: number | undefined;
  /**
   * How many of the queue's messages all processes together may claim within a length of time, such as `{ max: 100, per: '1s' }`. No window
   * of that length, by Redis' clock, ever has more claims, but all of them may come at once. Messages beyond the rate stay `ready`. Every
   * delivery counts, including retries. A claim counts even if `clear()` removes the message, or a stopping process returns it unhandled.
   * Consumers of another system that shares the queue through a layout are not limited. With `partitions`, each has an equal share.
   * @defaultValue `'unlimited'`
   */
  readonly rate?:
    | {
        /** How many messages. 1–1,000,000. */
        readonly max: number;
        /** The length of time. 100 ms – 24 h. Over a shorter time, waits that end a few milliseconds late would cost much of the rate. */
        readonly per: Duration;
      }
    | 'unlimited'
    | undefined;
  /**
   * Lets messages have a `group`, such as a customer: limits how many of each group are handled at once, and serves groups round-robin. All
   * processes that use the queue need the same value. Not available in every layout. See `docs/groups.md`.
   * @defaultValue `'off'`
   */
  readonly groups?:
    | {
        /**
         * How many messages of a group all processes together handle at once. 1–1,000,000, or `'unlimited'`. With 1, they are handled one
         * after the other, in the order in which they fall due.
         * @defaultValue `1`
         */
        readonly concurrency?: number | 'unlimited' | undefined;
        /**
         * What a message does with its permit until its retry: `'hold'` keeps it, so with a `concurrency` of 1 the messages behind it wait;
         * `'pass'` gives it to the next message.
         * @defaultValue `'hold'`
         */
        readonly onRetry?: 'hold' | 'pass' | undefined;
        /**
         * How many messages of each group all processes together may claim within a length of time, as the queue's `rate` says for all its
         * messages. A message beyond its group's rate holds up no other group. Needs a `concurrency` of at most 1000.
         * @defaultValue `'unlimited'`
         */
        readonly rate?: { readonly max: number; readonly per: Duration } | 'unlimited' | undefined;
      }
    | 'off'
    | undefined;
  /**
   * How long a claimed message belongs to its consumer; extended while the handler runs. 1 s – 24 h. After a crash, the message is
   * delivered again when its lease ends.
   * @defaultValue `'30s'`
   */
  readonly lease?: Duration | undefined;
  /** How many attempts a message has before it becomes a dead letter. 1–1,000,000. @defaultValue `5` */
  readonly attempts?: number | undefined;
  /**
   * The wait before a failed message's next attempt: exponential, fixed, or a function.
   * @defaultValue `{ type: 'exponential', delay: '1s', factor: 2, maxDelay: '1h', jitter: 0.2 }`
   */
  readonly backoff?: BackoffOptions | undefined;
  /**
   * How long a handler may run before its `signal` aborts, the attempt fails and its slot is free again. The payload's schema may take as
   * long, and so may each observer before it calls `next`. 1 ms – 24 h, or `'unlimited'`.
   * @defaultValue `'unlimited'`
   */
  readonly timeout?: Duration | 'unlimited' | undefined;
  /**
   * How late a message without its own `expiresAfter` may be: if its handler cannot start within this time after it first fell due, it has
   * expired and is not handled. Retries and deferrals do not prolong it. Not available in every layout. 0 ms – 100 years, or `'never'`.
   * @defaultValue `'never'`
   */
  readonly expiresAfter?: Duration | 'never' | undefined;
  /** What becomes of a message that has expired: `'drop'` removes it, `'dead'` makes it a dead letter. @defaultValue `'drop'` */
  readonly onExpired?: 'drop' | 'dead' | undefined;
  /**
   * How long after its due time a message waits for a process with a handler for its type before it becomes a dead letter. The same applies
   * to a message that only a newer version of this package can read. 0 ms – 100 years.
   * @defaultValue `'24h'`
   */
  readonly unknownTypeGrace?: Duration | undefined;
  /** The maximum size of a message's encoded payload and headers, in bytes. 1 byte – 512 MiB. @defaultValue `256 * 1024` */
  readonly maxPayloadBytes?: number | undefined;
  /**
   * The maximum number of messages in the queue, in all states together; further offers are refused. At least 1, or `'unlimited'`. Each of
   * n `partitions` takes an nth of it, rounded up, so some fill up slightly earlier than others.
   * @defaultValue `'unlimited'`
   */
  readonly maxMessages?: number | 'unlimited' | undefined;
  /**
   * The maximum number of dead letters. 0–10,000,000. Beyond it, the oldest are dropped, with a warning in the log, except those whose
   * bodies could not be read. With n `partitions`, each keeps up to 1/n of this number, rounded up.
   * @defaultValue `10_000`
   */
  readonly maxDeadLetters?: number | undefined;
  /**
   * Keeps an entry for each message that a handler has handled: when, how late, how long, by whom, with which attempt. `find` and
   * `list(queue, 'handled')` show the entries. Not available in every layout. See `docs/history.md`.
   * @defaultValue `'off'`
   */
  readonly history?:
    | {
        /** How long an entry is kept. 1 s – 10 years. */
        readonly for: Duration;
        /**
         * How many entries are kept. 1–10,000,000. Beyond it, the oldest go. With n `partitions`, each keeps up to 1/n of this number,
         * rounded up.
         * @defaultValue `100_000`
         */
        readonly max?: number | undefined;
        /** True if the payloads and headers are kept, too, which takes as much memory in Redis as the messages did. @defaultValue `false` */
        readonly payloads?: boolean | undefined;
      }
    | 'off'
    | undefined;
  /**
   * Keeps the id of each message that a handler has handled, so that later offers with this id are ignored. Every process that offers to or
   * handles the queue needs the option. Not available in every layout. See `docs/kept-ids.md`.
   * @defaultValue `'off'`
   */
  readonly idsFor?:
    | {
        /** How long an id is kept after its message was handled. 1 s – 10 years. */
        readonly for: Duration;
        /**
         * How many ids are kept. 1–10,000,000. Beyond it, the oldest go. With n `partitions`, each keeps up to 1/n of this number, rounded
         * up.
         * @defaultValue `1_000_000`
         */
        readonly max?: number | undefined;
      }
    | 'off'
    | undefined;
  /**
   * How often the next due time is looked up even without an announcement; also the longest delay that a lost announcement can cause.
   * 1 s – 1 h.
   * @defaultValue `'60s'`
   */
  readonly checkInterval?: Duration | undefined;
  /**
   * How long an idle consumer blocks before it calls Redis again; a connection that died silently is noticed 5 s later. 1 s – 10 min.
   * @defaultValue `'25s'`
   */
  readonly blockTimeout?: Duration | undefined;
  /**
   * How messages are stored in Redis: `'native'`, or a layout object from another package, to share the queue with another system. A layout
   * has its own options.
   * @defaultValue `'native'`
   */
  readonly layout?: 'native' | QueueLayout | undefined;
  /**
   * Encrypts payloads, headers and the errors of dead letters: `encryption()` from `nestjs-delay-queue/encryption`. All processes that use
   * the queue need the keys. Not available in every layout. See `docs/encryption.md`.
   * @defaultValue `'off'`
   */
  readonly encryption?: QueueEncryption | 'off' | undefined;
}

/** The times at which a message repeats: those of a calendar, or every so often. */
export type RepeatTimes = (CalendarTimes | IntervalTimes) & {
  /** No occurrence is earlier; with `every`, the first one is at this time. Between 1970 and 9999. Default: none. */
  readonly startsAt?: Date | undefined;
  /** No occurrence is later. Between 1970 and 9999. Default: none. */
  readonly endsAt?: Date | undefined;
  /**
   * After so many occurrences, the message no longer repeats. An occurrence counts when it has been handled or has failed for good, whatever
   * the number of its attempts; those that are skipped, expired or passed while paused do not count. 1–1,000,000,000. Default: none.
   */
  readonly limit?: number | undefined;
};

export interface CalendarTimes {
  /**
   * When an occurrence falls due, as the module's `calendar` reads it: five fields (minute, hour, day of month, month, day of week), such
   * as `'0 9 * * 1-5'`, or six with seconds first.
   */
  readonly cron: string;
  /** An IANA time zone, such as `'Europe/Berlin'`. Default: `'UTC'`. */
  readonly timeZone?: string | undefined;
  /** Cannot be combined with `cron`. */
  readonly every?: undefined;
}

export interface IntervalTimes {
  /**
   * The time between two occurrences, counted from `startsAt`, or else from 1970 in UTC: `'15m'` means each quarter of an hour, on the
   * hour. Needs no `calendar`. 1 s – 100 years.
   */
  readonly every: Duration;
  /** Cannot be combined with `every`. */
  readonly cron?: undefined;
  /** Only with `cron`. */
  readonly timeZone?: undefined;
}

/** When a message repeats, and what its occurrences have in common. */
export type RepeatOptions = RepeatTimes &
  RetryOptions & {
    /**
     * Decides what happens to occurrences that no process was there to handle in time: `'once'` handles only the first of them, late;
     * `'skip'` handles none that is more than a minute late (event `expired`); `'each'` handles all, one after the other, but none that is
     * later than `catchUp`. Default: `'once'`.
     */
    readonly missed?: 'once' | 'skip' | 'each' | undefined;
    /** How late an occurrence may be and still be made up for. Only with `missed: 'each'`. 1 min – 100 years. Default: `'1d'`. */
    readonly catchUp?: Duration | undefined;
    /** The headers of each occurrence. Their values are strings. Default: none. */
    readonly headers?: MessageHeaders | undefined;
    /** How late an occurrence may be, as in the offer options. Default: the queue's `expiresAfter`. */
    readonly expiresAfter?: Duration | 'never' | undefined;
    /** What becomes of an expired occurrence. Only with `expiresAfter`. Default: the queue's `onExpired`. */
    readonly onExpired?: 'drop' | 'dead' | undefined;
  };
