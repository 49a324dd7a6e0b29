import type { MessageBody, MessageCodec } from './codec/message-codec.js';
import { NO_TYPE } from './message-id.js';

/** Checks payloads. Synchronous unless the schema is asynchronous, because a promise for each message is costly. */
export interface PayloadCheck {
  /** Checks a payload that was read from the store. */
  stored(payload: unknown): CheckedPayload | Promise<CheckedPayload>;
  /**
   * Checks a payload before it is stored, in the form in which it will be read: a `Date`, for example, as a string.
   * @returns a promise if the schema is asynchronous
   * @throws DelayQueueError `INVALID_PAYLOAD`, at once or in the promise
   */
  encoded(payload: EncodedPayload): Promise<void> | undefined;
}

/** The output of a schema, or the paths of the problems. If there is a `cause`, the schema itself failed. */
export type CheckedPayload = { readonly value: unknown } | { readonly problem: string; readonly cause?: unknown };

export interface EncodedPayload {
  readonly queue: string;
  readonly type: string;
  readonly body: MessageBody;
  readonly codec: MessageCodec;
}

/** Thrown when a stored payload does not match its queue's schema. The message dies at once, because a retry would change nothing. */
export class InvalidPayload extends Error {
  override readonly name = 'InvalidPayload';
}

export function nameOfPayload({ queue, type }: Pick<EncodedPayload, 'queue' | 'type'>): string {
  return type === NO_TYPE ? `payload of queue '${queue}'` : `payload of type '${type}' of queue '${queue}'`;
}
