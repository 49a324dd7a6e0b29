/** A message that repeats because a handler declares it. */
export interface DeclaredRepeat {
  readonly queue: string;
  readonly id: string;
  /** How many partitions the queue has. */
  readonly partitions: number;
}

/**
 * Remembers, with the messages, which repeats have been offered for handlers. A mark outlives its message, which may be cancelled or
 * cleared; it goes only with the data of its store. So a missing mark says that the data was lost, and the message with it.
 *
 * If the number of partitions changes, a mark may be missing as well: to offer the message again leaves one that is there as it is.
 */
export interface RepeatMarks {
  has(repeat: DeclaredRepeat): Promise<boolean>;

  /** Called once the message is stored: a process that crashes before that leaves no mark. */
  set(repeat: DeclaredRepeat): Promise<void>;
}
