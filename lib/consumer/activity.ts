/** Counts what a queue's or family's handlers do. Called for every message, so the calls must cost next to nothing. */
export interface Activity {
  /** Called when a message is given to its handler. @param lateness - since the message fell due, ms; may be negative */
  started(lateness: number): void;
  /** Called when an outcome has been accepted after which the message has been handled. */
  handled(): void;
  /** Called when an outcome has been accepted after which the message has failed an attempt or is a dead letter. */
  failed(): void;
}

/** How the slots of a queue or family are used in this process. */
export interface SlotUsage {
  readonly slots: number;
  /** The number of slots that hold a message. */
  readonly used: number;
  /** The handler that has been running for longest; undefined if none is running. */
  readonly longest: RunningHandler | undefined;
}

export interface RunningHandler {
  /** The id of its message. */
  readonly id: string;
  readonly type: string;
  /** On the monotonic clock, in whole ms. */
  readonly startedAt: number;
}

/** Returns whichever has been running for longer. */
export function longer(one: RunningHandler | undefined, other: RunningHandler | undefined): RunningHandler | undefined {
  if (!one || !other) return one ?? other;
  return other.startedAt < one.startedAt ? other : one;
}
