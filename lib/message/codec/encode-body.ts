import { DelayQueueError } from '../delay-queue-errors.js';
import type { MessageBody, MessageCodec, MessageContent } from './message-codec.js';

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
