import type { Contestant } from './contestant.js';

/** What the process of this package is asked for: methods of a contestant. */
export type Task = Exclude<keyof Contestant, 'title' | 'end'>;

export interface Request {
  readonly id: number;
  readonly task: Task;
  readonly args: readonly unknown[];
}

/** To a request of that id; `ready`: the process has started. */
export interface Answer {
  readonly id: number | 'ready';
  readonly result?: unknown;
  readonly error?: string;
}
