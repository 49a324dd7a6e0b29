import type { MessageHeaders } from '../message/message.js';

/**
 * An accepted offer.
 * @typeParam T - the payload's type, which nothing checks
 */
export interface OfferedMessage<T = unknown> {
  /** The name of the queue. */
  readonly queue: string;
  /** The id given to `offer`, or the generated one. */
  readonly id: string;
  /** Empty if none was given to `offer`. */
  readonly type: string;
  /** As a handler gets it: what JSON made of the offered payload, or a `Buffer`. */
  readonly payload: T;
  /** Empty if none were given to `offer`. */
  readonly headers: MessageHeaders;
  /** Absent if none was given to `offer`. */
  readonly group?: string | undefined;
  /** The first due time; for a follower, as if the message that it follows had ended at once. */
  readonly dueAt: Date;
  /**
   * From the offer to the due time, ms; for a follower, from the end of the message that it follows. 0 for an `offerAt` of a past instant.
   */
  readonly delay: number;
}
