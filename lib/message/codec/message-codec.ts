import type { Expiry } from '../expiry.js';
import type { MessageHeaders } from '../message.js';
import type { RepeatProgress } from '../repeat-rule.js';
import type { Retries } from '../retries.js';
import { DelayQueueError } from '../delay-queue-errors.js';
import { isThenable } from '../failure.js';
import { NO_TYPE } from '../message-id.js';
import { tryReading } from '../untrusted-value.js';

/** Converts between the content that a user offers and the body that a store keeps. */
export interface MessageCodec {
  /** @throws DelayQueueError `INVALID_PAYLOAD` */
  encode(content: MessageContent): MessageBody;
  /** Returns how many bytes of an encoded body belong neither to the payload nor to the headers. Default: 0. */
  framingBytes?(content: MessageContent): number;
  /** Decodes a body written by {@link encode}, or throws `INVALID_PAYLOAD`. */
  decode(body: Buffer): MessageContent;
  /** Decodes a body for display if it is encrypted and cannot be decrypted here; undefined for any other body. */
  show?(body: Buffer): MessageContent | undefined;
  /** Present if equal contents may have different bodies: true if two bodies without a first due time say the same in the same way. */
  isSame?(one: Buffer, other: Buffer): boolean;
  /** How the errors of dead letters are stored. Absent: as they are. */
  readonly errors?: ErrorCodec;
}

/** Converts the errors of dead letters, which are JSON in one line. */
export interface ErrorCodec {
  encode(error: string): string;
  /** Returns whatever it cannot decode as it is. */
  decode(stored: string): string;
}

export interface MessageContent {
  /** The type; empty if the message has none. */
  type: string;
  payload: unknown;
  headers: MessageHeaders;
  /** The message's own expiry; undefined if the queue's applies. */
  expiry?: Expiry | undefined;
  /** The group; undefined if the message has none. */
  group?: string | undefined;
  /** The rule and its progress; undefined if the message does not repeat. */
  repeat?: RepeatProgress | undefined;
  /** The message's own attempts and backoff; undefined if it has neither. */
  retries?: Retries | undefined;
}

/** Encoded content. A string is converted to bytes only at the socket, and so only once. */
export type MessageBody = string | Buffer;

export interface BodyRules {
  readonly codec: MessageCodec;
  /** The maximum size of the encoded payload and headers, in bytes. */
  readonly maxPayloadBytes: number;
}

/** The maximum number of UTF-8 bytes per UTF-16 unit of a string. */
const MAX_BYTES_PER_UNIT = 3;

/** Encodes a body and checks its size; throws `INVALID_PAYLOAD` or `PAYLOAD_TOO_LARGE`. */
export function encodeBody({ codec, maxPayloadBytes }: BodyRules, content: MessageContent): MessageBody {
  const body = codec.encode(content);
  // A short body need not be measured.
  if (body.length * MAX_BYTES_PER_UNIT <= maxPayloadBytes) return body;
  const bytes = Buffer.byteLength(body) - (codec.framingBytes?.(content) ?? 0);
  if (bytes <= maxPayloadBytes) return body;
  throw new DelayQueueError(
    'PAYLOAD_TOO_LARGE',
    `The payload and headers take ${bytes} bytes, more than maxPayloadBytes (${maxPayloadBytes}): ` +
      'offer a reference to the data instead, or raise the limit',
  );
}

/** Describes the problem with a body longer than Redis accepts. */
export function oversized(body: MessageBody): string {
  return (
    `The payload and headers take ${Buffer.byteLength(body)} bytes, more than Redis accepts (proto-max-bulk-len): ` +
    'offer a reference to the data instead, or raise that limit'
  );
}

type ContentOf<T> = MessageContent & { readonly payload: T };

/**
 * Decodes a body for display. Returns an unreadable body as bytes, and an encrypted payload without its key as an `EncryptedPayload`, so that
 * neither hides the other messages.
 */
export function readContent<T>(codec: MessageCodec, body: Buffer): ContentOf<T> {
  const content = tryReading(() => codec.decode(body)) ?? tryReading(() => codec.show?.(body));
  return (content ?? { type: NO_TYPE, payload: body, headers: {} }) as ContentOf<T>;
}

/** Returns a payload for a promise to resolve to; as bytes if it is unreadable, or is a thenable, for which the promise would wait. */
export function readPayload<T>(codec: MessageCodec, body: Buffer): T {
  const { payload } = readContent<T>(codec, body);
  return tryReading(() => isThenable(payload)) === false ? payload : (body as T);
}

/** Returns the error of a dead letter as JSON in one line. */
export function storedError({ errors }: MessageCodec, stored: string): string {
  return errors ? errors.decode(stored) : stored;
}
