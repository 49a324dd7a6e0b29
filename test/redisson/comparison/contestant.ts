/** A message that was handled: which one, when it was due and when the handler had it, ms since the epoch. */
export interface Handled {
  readonly index: number;
  readonly due: number;
  readonly at: number;
}

/** When some of the preloaded messages are to fall due: their numbers in the order of offers, and ms since the epoch. */
export type Schedule = readonly (readonly [index: number, due: number])[];

/** A client of the queue in a process of its own, driven by the measuring program. */
export interface Contestant {
  readonly title: string;
  /** Writes messages whose due times are random and far away. */
  preload(queue: string, count: number): Promise<void>;
  /** From now on it transfers what falls due. */
  open(queue: string): Promise<void>;
  /**
   * Offers messages with so many calls under way at a time.
   *
   * @returns how many milliseconds it took
   */
  offer(queue: string, count: number, callers: number): Promise<number>;
  /** Handles so many messages, or what comes until an instant, ms since the epoch. */
  handle(queue: string, count: number, until: number): Promise<Handled[]>;
  /** Gives preloaded messages another due time, where they are. */
  schedule(queue: string, schedule: Schedule): Promise<void>;
  close(queue: string): Promise<void>;
  end(): Promise<void>;
}
