import type { Task } from './task.js';

/** Older tasks fall off the board, done or not; that does not keep them from being done. */
export const BOARD_SIZE = 20;

/** Where people see which tasks there are, and which are done. */
export abstract class TaskBoard {
  /** Puts a task that waits on the board, unless it is there already: it may be done before anybody gets to say this. */
  abstract add(task: Task): Promise<void>;

  /** Puts a task that is done on the board. */
  abstract done(task: Task): Promise<void>;

  abstract find(id: string): Promise<Task | null>;

  /** The newest tasks first, at most {@link BOARD_SIZE}. */
  abstract latest(): Promise<Task[]>;
}
