import type { ComputedBackoff } from '../message/retries.js';
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
  /** The type given to `offer`; empty if none was given. */
  readonly type: string;
  /** The payload as a handler gets it: after a round trip through JSON, or a `Buffer`. */
  readonly payload: T;
  /** The headers given to `offer`; empty if none were given. */
  readonly headers: MessageHeaders;
  /** The group given to `offer`; absent if none was given. */
  readonly group?: string | undefined;
  /** The message's own `attempts`; absent if it has none. */
  readonly attempts?: number | undefined;
  /** The message's own `backoff`, with its defaults and in milliseconds; absent if it has none. */
  readonly backoff?: ComputedBackoff | undefined;
  /** The first due time; for a follower, as if the message that it follows had ended when the offer was made. */
  readonly dueAt: Date;
  /** From the offer to the due time, ms; for a follower, from the end of the message that it follows. 0 for an `offerAt` in the past. */
  readonly delay: number;
}
