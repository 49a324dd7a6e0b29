import { type MessageCodec, readContent } from '../message/codec/message-codec.js';
import { dateOf } from '../message/duration.js';
import type { MessageHeaders } from '../message/message.js';
import { NO_TYPE } from '../message/message-id.js';
import { type ComputedBackoff, shownRetries } from '../message/retries.js';
import type { StoredMessage } from '../store/admin-store.js';

/**
 * What a queue with the option `history` remembers of a message that a handler has handled.
 * @typeParam T - the payload's type, which is not checked at run time
 * @typeParam Type - the message's type, if known
 */
export interface HandledMessage<T = unknown, Type extends string = string> {
  /** The message's id. For an occurrence of a repeating message, that id and the time, as its dead letter would have. */
  readonly id: string;
  /** The message's queue. */
  readonly queue: string;
  /** Always `'handled'`. */
  readonly state: 'handled';
  /** The message's type; empty if it had none. */
  readonly type: Type;
  /** The message's group; absent if it had none. */
  readonly group?: string;
  /** The payload; absent unless the queue keeps payloads. */
  readonly payload?: T;
  /** The headers; absent unless the queue keeps payloads. */
  readonly headers?: MessageHeaders;
  /** The message's own attempts; absent unless it had its own and the queue keeps payloads. */
  readonly attempts?: number | undefined;
  /** The message's own backoff; absent unless it had its own and the queue keeps payloads. */
  readonly backoff?: ComputedBackoff | undefined;
  /** When the message, or its last retry, fell due, by Redis' clock. */
  readonly dueAt: Date;
  /** When the message was offered, by Redis' clock. */
  readonly offeredAt: Date;
  /** When the message had been handled, by Redis' clock. */
  readonly handledAt: Date;
  /** Whole milliseconds from the due time to the start of the handler, by Redis' clock. */
  readonly lateness: number;
  /** Whole milliseconds from the start of the handler to its outcome, with the work of observers. */
  readonly took: number;
  /** The attempt's number, from 1. */
  readonly attempt: number;
  /** The process that handled the message: its host, its process id, and the id by which `workers()` lists it. */
  readonly worker: { readonly id: string; readonly host: string; readonly pid: number };
}

/** Converts what the store remembers to the form that users see. */
export function handledMessageOf(
  { name: queue, codec }: { readonly name: string; readonly codec: MessageCodec },
  { id, body, handling }: StoredMessage,
): HandledMessage {
  const { type = NO_TYPE, group, dueAt, offeredAt, at, lateness, took, attempt, worker } = handling!;
  const { payload, headers, retries } = body.length > 0 ? readContent(codec, body) : {};
  return {
    ...{ id, queue, state: 'handled', type },
    ...(group !== undefined && { group }),
    ...(headers && { payload, headers }),
    ...(retries && shownRetries(retries)),
    ...{ dueAt: dateOf(dueAt), offeredAt: dateOf(offeredAt), handledAt: dateOf(at) },
    ...{ lateness, took, attempt, worker },
  };
}
