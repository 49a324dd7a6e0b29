/** A message that repeats because a handler declares it. */
export interface DeclaredRepeat {
  readonly queue: string;
  readonly id: string;
  readonly partitions: number;
}

/**
 * Remembers, beside the messages, which repeats have been offered for handlers. A mark outlives its message, which may be cancelled or
 * cleared, and is lost only with the data of its store. So a missing mark means that the data was lost, and the message with it. A mark may
 * also be missing after the number of partitions has changed, but offering a message that exists leaves it as it is.
 */
export interface RepeatMarks {
  has(repeat: DeclaredRepeat): Promise<boolean>;

  /** Called once the message is stored, so that a process that crashes before leaves no mark. */
  set(repeat: DeclaredRepeat): Promise<void>;
}
