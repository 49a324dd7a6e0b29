/** Something to do at its due time. Instants are ISO 8601. */
export interface Task {
  readonly id: string;
  readonly task: string;
  readonly dueAt: string;
  /** Null until it is done. */
  readonly doneAt: string | null;
}
