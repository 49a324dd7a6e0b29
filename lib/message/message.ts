/** Small text values that travel with a message beside its payload, such as a trace id or a tenant. */
export type MessageHeaders = Readonly<Record<string, string>>;

/**
 * Where a message is on its way: `delayed` until due, `ready` until a consumer claims it, `active` while a handler holds
 * it under a lease, `dead` once its attempts are spent. A message that was handled is gone.
 */
export type MessageState = 'delayed' | 'ready' | 'active' | 'dead';

/**
 * What is known of a message wherever it is looked at.
 *
 * @typeParam T - the payload's type; it is the producer's word, nothing checks it
 */
export interface MessageEnvelope<T = unknown> {
  /** The id given to `offer`, or the generated one. Make handlers idempotent by it. */
  readonly id: string;
  /** The queue it was offered to. */
  readonly queue: string;
  /** What was offered: JSON values, or a `Buffer` if a `Buffer` was offered. */
  readonly payload: T;
  /** What was offered as `headers`; empty if nothing was. */
  readonly headers: MessageHeaders;
  /** When it falls or fell due, by the clock of Redis; after a retry, when that is or was. */
  readonly dueAt: Date;
  /** When it was offered, by the clock of Redis. */
  readonly offeredAt: Date;
}

/**
 * A message as its handler receives it.
 *
 * @typeParam T - the payload's type; it is the producer's word, nothing checks it
 */
export interface DelayedMessage<T = unknown> extends MessageEnvelope<T> {
  /** 1 for the first attempt. Failed attempts count, lost leases included; deferred ones do not. */
  readonly attempt: number;
  /**
   * Aborts when the result of this attempt can no longer count: the lease was lost, the handler's time-out passed, or the
   * process is about to stop. Its `reason` says which.
   */
  readonly signal: AbortSignal;
}

/**
 * A message looked at from outside, as `find` returns it.
 *
 * @typeParam T - the payload's type; it is the producer's word, nothing checks it
 */
export interface MessageSnapshot<T = unknown> extends MessageEnvelope<T> {
  /** Where it is on its way. */
  readonly state: MessageState;
  /** How many attempts have failed so far. */
  readonly failedAttempts: number;
  /** Until when its consumer may keep it unless it extends the lease; only while `active`. */
  readonly leasedUntil?: Date;
}

/**
 * A message whose attempts are spent, or which its handler rejected.
 *
 * @typeParam T - the payload's type; it is the producer's word, nothing checks it
 */
export interface DeadLetter<T = unknown> extends MessageEnvelope<T> {
  /** How many attempts have failed. */
  readonly failedAttempts: number;
  /** When it died. */
  readonly diedAt: Date;
  /** What ended it. */
  readonly error: MessageFailure;
}

/** Why an attempt failed. */
export interface MessageFailure {
  /** The error's name, for example `TypeError`. */
  readonly name: string;
  /** The error's message. */
  readonly message: string;
  /** The first lines of the stack, where the error had one. */
  readonly stack?: string;
}

/** How many messages of a queue are in each state. */
export type MessageCounts = Readonly<Record<MessageState, number>>;
