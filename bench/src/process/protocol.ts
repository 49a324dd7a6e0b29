import type { Server } from '../adapters/adapter.js';

/** The settings of a child process. */
export interface ProcessSettings {
  readonly system: string;
  readonly role: 'producer' | 'consumer';
  readonly server: Server;
  /** The folder of the built library. */
  readonly library: string;
}

export interface Request {
  readonly id: number;
  readonly task: string;
  readonly work: unknown;
}

/** The answer to the request with this id; `ready`: the process has started. */
export interface Answer {
  readonly id: number | 'ready';
  readonly result?: unknown;
  readonly error?: string;
}
