import type { Expiry } from '../expiry.js';
import type { MessageHeaders } from '../message.js';
import type { RepeatRule } from '../repeat-rule.js';

/** Converts between the content that a user offers and the body that a store keeps. */
export interface MessageCodec {
  /**
   * Encodes the content of a message.
   *
   * @throws DelayQueueError `INVALID_PAYLOAD`
   */
  encode(content: MessageContent): MessageBody;
  /** How many bytes of an encoded body belong neither to the payload nor to the headers; if left out, none. */
  framingBytes?(content: MessageContent): number;
  /**
   * Decodes a body that {@link encode} has written.
   *
   * @throws DelayQueueError `INVALID_PAYLOAD`
   */
  decode(body: Buffer): MessageContent;
}

/** The content of a message. */
export interface MessageContent {
  /** Empty: none. */
  type: string;
  payload: unknown;
  headers: MessageHeaders;
  /** Undefined: the message does not say when it expires. */
  expiry?: Expiry | undefined;
  /** Undefined: the message has none. */
  group?: string | undefined;
  /** Undefined: the message does not repeat. */
  repeat?: RepeatRule | undefined;
}

/** Encoded content. Text stays a string until it reaches the socket, because encoding it once is cheaper than twice. */
export type MessageBody = string | Buffer;
