import type { MessageHeaders } from '../message/message.js';

/** Between what a user offers and the bytes a store keeps. */
export interface MessageCodec {
  /**
   * @throws DelayQueueError `INVALID_PAYLOAD`
   */
  encode(content: MessageContent): MessageBody;
  /** How many bytes of an encoded body are neither the payload's nor the headers'; none, where it is not told. */
  framingBytes?(content: MessageContent): number;
  /** The reverse; `encode` and `decode` cancel out. */
  decode(body: Buffer): MessageContent;
}

/** What a message says. */
export interface MessageContent {
  payload: unknown;
  headers: MessageHeaders;
}

/** Encoded content. Text stays a string until the socket, where one encoding is cheaper than two. */
export type MessageBody = string | Buffer;
