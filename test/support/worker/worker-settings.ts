import type { DelayQueueModuleOptions, QueueOptions } from '../../../lib/index.js';

/** What a worker process is told: all of it can be written as JSON. */
export interface WorkerSettings {
  readonly module: DelayQueueModuleOptions;
  readonly queue: string;
  readonly handler?: QueueOptions;
  /** Journals the ends only: half the lines. */
  readonly quiet?: boolean;
}

/** The payload: what the handler of a worker does; null: nothing. */
export type Task =
  | ((
      | { readonly do: 'work' | 'block' | 'offer-then-work'; readonly ms: number }
      | { readonly do: 'work-until-aborted' | 'hang' | 'crash' }
    ) & { readonly firstAttemptOnly?: boolean })
  | null;

/** A line of the journal. */
export type Entry =
  | { readonly event: 'ready' }
  | { readonly event: 'aborted'; readonly id: string; readonly attempt: number }
  | {
      readonly event: 'start' | 'end';
      readonly id: string;
      readonly attempt: number;
      /** Milliseconds after its due time at which the handler started; the clock is that of Redis, on one machine. */
      readonly late: number;
    };
