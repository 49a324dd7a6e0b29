import type { DelayQueueObserver } from '../message/delay-queue-observer.js';
import type { Duration } from '../message/duration.js';
import type { Calendar } from '../message/repeat-rule.js';
import type { ConnectionOptions } from '../redis/options/connection-options.js';
import type { QueueOptions } from './queue-options.js';
import { ConfigurableModuleBuilder } from '@nestjs/common';

export type { ConnectionOptions } from '../redis/options/connection-options.js';

/** The options of `DelayQueueModule.forRoot()`. All are optional. */
export interface DelayQueueModuleOptions {
  /**
   * Where Redis is: a URL, ioredis options, `{ cluster: { nodes, options } }`, or a function that creates clients. Ignored with
   * `store: 'memory'`.
   * @defaultValue `'redis://127.0.0.1:6379'`
   */
  readonly connection?: ConnectionOptions | undefined;
  /**
   * Where messages live: `'redis'`, or `'memory'` for tests and experiments. Messages in memory are lost when the process ends.
   * @defaultValue `'redis'`
   */
  readonly store?: 'redis' | 'memory' | undefined;
  /** The first part of every key. 1–64 of the characters `A–Z a–z 0–9 _ . : -`. @defaultValue `'delay-queue'` */
  readonly prefix?: string | undefined;
  /**
   * Start even if Redis may evict messages when its memory is full. Otherwise an `allkeys-*` `maxmemory-policy` makes startup fail with
   * `UNSUPPORTED_SERVER`.
   * @defaultValue `false`
   */
  readonly allowEviction?: boolean | undefined;
  /** Start the handlers; with `false`, this process only offers. @defaultValue `true` */
  readonly consume?: boolean | undefined;
  /**
   * Also run the application's global guards, pipes, interceptors and exception filters around handlers. Any added by
   * `app.useGlobalGuards()` and the like take effect from `app.init()` on.
   * @defaultValue `false`
   */
  readonly inheritAppConfig?: boolean | undefined;
  /**
   * Observe what happens, for example for traces, metrics or your own log. The first observer wraps the others, and all of them wrap those
   * added by `@DelayQueueListener()`.
   * @defaultValue `[]`
   */
  readonly observers?: readonly DelayQueueObserver[] | undefined;
  /** Options for every queue. @defaultValue `{}` */
  readonly defaults?: QueueOptions | undefined;
  /**
   * Options by queue name, or by the pattern of a family, such as `tenant-*`. They override those of the queue's `@DelayedHandler`, which
   * override `defaults`. The longest matching pattern counts, and the entry with the queue's own name overrides it.
   * @defaultValue `{}`
   */
  readonly queues?: Readonly<Record<string, QueueOptions>> | undefined;
  /** How long a stopping process waits for running handlers. 0 ms – 1 h. @defaultValue `'10s'` */
  readonly shutdownTimeout?: Duration | undefined;
  /**
   * How long an offer or another producer call may take before it fails. A payload's schema may take as long, and so may each observer
   * before it calls `next`. 10 ms – 10 min.
   * @defaultValue `'5s'`
   */
  readonly offerTimeout?: Duration | undefined;
  /**
   * Resolve an offer, cancel, reschedule or abort only after it has been replicated, so that a failover loses nothing that was
   * acknowledged. If it is not replicated in time, the call fails with `NOT_REPLICATED`. Ignored with `store: 'memory'`.
   * @defaultValue undefined: as soon as the primary has it
   */
  readonly acknowledge?:
    | {
        /** How many replicas must have a copy. 1–100, and 0 with `fsync`. @defaultValue `1` */
        readonly replicas?: number | undefined;
        /** The longest wait for the copies; at most `offerTimeout`. 1 ms – 10 min. @defaultValue `'200ms'` */
        readonly within?: Duration | undefined;
        /** Wait until the primary and those replicas have it on disk. Needs Redis 7.2 or Valkey with `appendonly yes`. @defaultValue `false` */
        readonly fsync?: boolean | undefined;
      }
    | undefined;
  /**
   * Forces the use of Redis functions or of scripts. By default, the module uses functions, which cost Redis less. If the user may not load
   * or call them, it logs this once and uses scripts; with `'functions'`, startup fails (`MISSING_PERMISSION`, `UNSUPPORTED_SERVER`).
   * @defaultValue functions where they are available
   */
  readonly scripting?: 'functions' | 'scripts' | undefined;
  /**
   * Report this process to `producer.workers()` every ten seconds while it handles queues: its host, and what its handlers do.
   * @defaultValue `true`
   */
  readonly heartbeat?: boolean | undefined;
  /**
   * Calculates when messages that repeat by a `cron` fall due: `calendar` from `nestjs-delay-queue/calendar`. Without it, this process can
   * neither offer nor handle them: `repeat` is refused, and such a message waits for another process.
   * @defaultValue undefined: none
   */
  readonly calendar?: Calendar | undefined;
}

/** Implemented by a class given to `forRootAsync()` as `useClass` or `useExisting`. */
export interface DelayQueueOptionsFactory {
  /** Called once, at startup. */
  createDelayQueueOptions(): DelayQueueModuleOptions | Promise<DelayQueueModuleOptions>;
}

export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<DelayQueueModuleOptions>(
  {
    moduleName: 'DelayQueue',
  },
)
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createDelayQueueOptions')
  .setExtras({ name: undefined as string | undefined }, (definition) => ({ ...definition, global: true }))
  .build();
