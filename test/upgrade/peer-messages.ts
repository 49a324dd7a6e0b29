import type { DelayQueueModuleOptions, QueueHandlerOptions } from '../../lib/index.js';

export interface PeerSettings {
  /** The folder with the sources of the library. */
  readonly lib: string;
  readonly module: DelayQueueModuleOptions;
  readonly queue: string;
  /** Undefined: it only offers. */
  readonly handler?: QueueHandlerOptions | undefined;
}

/** A payload: what the handler does. */
export interface Task {
  readonly do: 'nothing' | 'work' | 'fail' | 'fail-once' | 'hang';
  /** For `work`, ms. */
  readonly ms?: number;
}

/** A call of a method of the producer, or of its dead letters. */
export interface Call {
  readonly number: number;
  readonly on: 'producer' | 'deadLetters';
  readonly method: string;
  readonly args: readonly unknown[];
}

/** The arguments of a handler's call. */
export interface HandledTask {
  readonly id: string;
  readonly attempt: number;
  readonly payload: unknown;
  readonly headers: unknown;
  readonly type: string;
  /** ms since the epoch. */
  readonly at: number;
}

/** A line that a peer writes. */
export type Line =
  | { readonly event: 'ready' }
  | { readonly event: 'answer'; readonly number: number; readonly result?: unknown; readonly error?: string }
  | ({ readonly event: 'start' | 'end' } & HandledTask);
