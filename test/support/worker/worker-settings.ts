import type { DelayQueueModuleOptions, LimitsToSet, QueueHandlerOptions } from '../../../lib/index.js';
import type { EncryptionOptions } from '../../../lib/encryption/index.js';
import type { RedissonOptions } from '../../../packages/redisson/src/index.js';

/** The settings of a worker process, which can be written as JSON. */
export interface WorkerSettings {
  readonly module: DelayQueueModuleOptions;
  readonly queue: string;
  readonly handler?: QueueHandlerOptions;
  /** Given to the layout `redisson()`, for all queues. Default: the native layout. */
  readonly inRedisson?: RedissonOptions;
  /** Given to `encryption()`, for all queues. Default: nothing is encrypted. */
  readonly encryption?: EncryptionOptions;
  /** The only types that it has handlers for. Default: one handler for everything. */
  readonly types?: readonly string[];
  /** Journals the ends only: half the lines. */
  readonly quiet?: boolean;
}

/** The payload: what the handler of a worker does; null: nothing. */
export type Task =
  | ((
      | { readonly do: 'work' | 'work-past-sigterm' | 'block'; readonly ms: number }
      | { readonly do: 'set-limits'; readonly queue: string; readonly limits: LimitsToSet }
      | { readonly do: 'work-until-aborted' | 'hang' | 'crash' }
    ) & { readonly firstAttemptOnly?: boolean })
  | null;

/** The reports of a worker, by event. */
export interface Entries {
  ready: object;
  start: HandlerCall;
  /** `startedAt`, `endedAt`: when its handler was called and when it returned, ms since the epoch. */
  end: HandlerCall & { readonly startedAt: number; readonly endedAt: number };
  /** `abortedAt`: when its signal aborted, ms since the epoch. */
  aborted: HandlerCall & { readonly abortedAt: number };
}

interface HandlerCall {
  readonly id: string;
  readonly attempt: number;
  /** Milliseconds after its due time at which the handler started; the clock is that of Redis, on one machine. */
  readonly late: number;
  /** For a repeating message: the time of the occurrence, ms since the epoch, and its calendar. */
  readonly at?: number | undefined;
  readonly cron?: string | undefined;
}

/** A line of the journal. */
export type Entry = { [Event in keyof Entries]: EntryOf<Event> }[keyof Entries];

export type EntryOf<Event extends keyof Entries> = { readonly event: Event } & Entries[Event];
