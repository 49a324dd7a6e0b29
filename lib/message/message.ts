import type { ComputedBackoff } from './retries.js';
import type { Occurrence, RepeatProgress } from './repeat-rule.js';

/** Short strings that travel with a message alongside its payload, such as a trace id or a tenant. */
export type MessageHeaders = Readonly<Record<string, string>>;

/**
 * The state of a message: `delayed` until due, `ready` until a consumer claims it, `active` while a handler holds it under a lease, `dead`
 * once its attempts are used up or its handler rejected it. A handled message is gone.
 */
export type MessageState = 'delayed' | 'ready' | 'active' | 'dead';

/**
 * The fields that every view of a message has.
 * @typeParam T - the payload's type, which is not checked at run time
 * @typeParam Type - the message's type, if known
 */
export interface MessageEnvelope<T = unknown, Type extends string = string> {
  /** The id given to `offer`, or the generated one. Use it to make handlers idempotent. */
  readonly id: string;
  /** The queue to which the message was offered. */
  readonly queue: string;
  /** The `type` given to `offer`; empty if none was given. */
  readonly type: Type;
  /** The offered payload: JSON values, or a `Buffer` if a `Buffer` was offered. */
  readonly payload: T;
  /** The offered headers; empty if none were given. */
  readonly headers: MessageHeaders;
  /** The `group` given to `offer`; absent if none was given. */
  readonly group?: string | undefined;
  /** The message's own `attempts`; absent if those of its queue apply. */
  readonly attempts?: number | undefined;
  /** The message's own `backoff`, with its defaults and in milliseconds; absent if that of its handler applies. */
  readonly backoff?: ComputedBackoff | undefined;
  /** When the message falls or fell due, by Redis' clock; for a retry, when the retry is or was due. */
  readonly dueAt: Date;
  /** When the message was offered, by Redis' clock; with `maxWait`, when the first offer of the debounce was made. */
  readonly offeredAt: Date;
}

/** The live fields of a handler's message. A class, so the compiler knows that `{ ...message }` does not copy them. */
export declare abstract class LiveMessage {
  /** Whole milliseconds since the message fell due, by Redis' clock, at the moment of reading. */
  get lateness(): number;
  /**
   * Aborts when the lease is lost, the handler's `timeout` has passed, somebody aborts the message, or the process is about to stop. Its
   * `reason` is an error named `LeaseLost`, `HandlerTimeout`, `MessageAborted` or `ShuttingDown`.
   */
  get signal(): AbortSignal;
}

/** A message as its handler receives it; for the type parameters, see {@link MessageEnvelope}. */
export interface DelayedMessage<T = unknown, Type extends string = string>
  extends MessageEnvelope<T, Type>, LiveMessage {
  /** The attempt's number, from 1. Failed attempts and those whose lease was lost count; deferred ones do not. */
  readonly attempt: number;
  /** The time, by Redis' clock, after which neither the message nor a retry is handled; undefined if it does not expire. */
  readonly expiresAt?: Date | undefined;
  /** The rule of a repeating message, and its occurrence; undefined if the message does not repeat. */
  readonly repeat?: Occurrence | undefined;
}

/** A message as `find` and `list` return it; for the type parameters, see {@link MessageEnvelope}. */
export interface MessageSnapshot<T = unknown, Type extends string = string> extends MessageEnvelope<T, Type> {
  /** The state of the message when it was looked up. */
  readonly state: MessageState;
  /** The number of attempts that have failed so far. */
  readonly failedAttempts: number;
  /** When the message expires; absent if it is `dead` or does not expire. */
  readonly expiresAt?: Date;
  /**
   * The rule by which the message repeats, with `dueAt` as its next time; absent if it does not repeat. A paused message is due on
   * 31 December 9999.
   */
  readonly repeat?: RepeatProgress;
  /** When the lease ends unless the consumer extends it; only while `active`. */
  readonly leasedUntil?: Date;
  /** When the message became a dead letter, by Redis' clock; only while `dead`. */
  readonly diedAt?: Date;
  /** The error of the last attempt; only while `dead`. */
  readonly error?: MessageFailure;
}

/** A message whose attempts are used up, or that its handler rejected; for the type parameters, see {@link MessageEnvelope}. */
export interface DeadLetter<T = unknown, Type extends string = string> extends MessageSnapshot<T, Type> {
  readonly state: 'dead';
  readonly diedAt: Date;
  readonly error: MessageFailure;
}

/** Why an attempt failed. */
export interface MessageFailure {
  /** The error's name, for example `TypeError`. */
  readonly name: string;
  /** The error's message, followed by other reasons: collected errors and causes. */
  readonly message: string;
  /** The first lines of the stack, if the error had one. */
  readonly stack?: string;
}

/** The number of a queue's messages in each state. */
// Not an interface, so that Object.values knows that the values are numbers.
export type MessageCounts = Readonly<{
  /** Not due yet, or not transferred yet. */
  delayed: number;
  /** Due, and not claimed by a consumer. */
  ready: number;
  /** Claimed by a consumer. */
  active: number;
  /** Failed for good. */
  dead: number;
}>;
