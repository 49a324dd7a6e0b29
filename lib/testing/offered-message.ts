import type { MessageHeaders } from '../message/message.js';

/**
 * An offer that was taken in.
 *
 * @typeParam T - the payload's type; it is the test's word, nothing checks it
 */
export interface OfferedMessage<T = unknown> {
  /** The queue it was offered to. */
  readonly queue: string;
  /** The id given to `offer`, or the generated one. */
  readonly id: string;
  /** As given to `offer`; empty if none was given. */
  readonly type: string;
  /** As a handler gets it: what JSON made of what was offered, or a `Buffer`. */
  readonly payload: T;
  /** What was offered as `headers`; empty if nothing was. */
  readonly headers: MessageHeaders;
  /** What was offered as `group`; absent if nothing was. */
  readonly group?: string | undefined;
  /** When it fell, or will fall due for the first time; of one that follows another message, if that had ended at once. */
  readonly dueAt: Date;
  /** From the offer until then, ms; of one that follows another message, from its end. 0 for an `offerAt` of an instant that has passed. */
  readonly delay: number;
}
