/** Something to do when its time has come. Instants are ISO 8601. */
export interface Task {
  readonly id: string;
  readonly task: string;
  readonly dueAt: string;
  /** Null until it is done. */
  readonly doneAt: string | null;
}
