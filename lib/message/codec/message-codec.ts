import type { Expiry } from '../expiry.js';
import type { MessageHeaders } from '../message.js';
import type { RepeatRule } from '../repeat-rule.js';

/** Converts between the content that a user offers and the body that a store keeps. */
export interface MessageCodec {
  /** @throws DelayQueueError `INVALID_PAYLOAD` */
  encode(content: MessageContent): MessageBody;
  /** How many bytes of an encoded body belong neither to the payload nor to the headers. Default: 0. */
  framingBytes?(content: MessageContent): number;
  /** Decodes a body written by {@link encode}, or throws `INVALID_PAYLOAD`. */
  decode(body: Buffer): MessageContent;
}

export interface MessageContent {
  /** Empty if the message has none. */
  type: string;
  payload: unknown;
  headers: MessageHeaders;
  /** Undefined if the queue's expiry applies. */
  expiry?: Expiry | undefined;
  /** Undefined if the message has none. */
  group?: string | undefined;
  /** Undefined if the message does not repeat. */
  repeat?: RepeatRule | undefined;
}

/** Encoded content. Text stays a string until it reaches the socket, so it is encoded only once. */
export type MessageBody = string | Buffer;
