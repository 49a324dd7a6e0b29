import type { Task } from './task.js';

/** Older tasks fall off the board, done or not; they are still done when due. */
export const BOARD_SIZE = 20;

/** Shows people which tasks there are, and which are done. */
export abstract class TaskBoard {
  /** Puts a waiting task on the board, unless it is already there: it may be done before this call arrives. */
  abstract add(task: Task): Promise<void>;

  /** Puts a finished task on the board. */
  abstract done(task: Task): Promise<void>;

  abstract find(id: string): Promise<Task | null>;

  /** The newest tasks first, at most {@link BOARD_SIZE}. */
  abstract latest(): Promise<Task[]>;
}
