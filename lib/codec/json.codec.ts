import { types } from 'node:util';
import { DelayQueueError } from '../message/delay-queue.errors.js';
import type { MessageHeaders } from '../message/message.js';
import { writeJsonData } from './json-data.js';
import type { MessageBody, MessageCodec, MessageContent } from './message-codec.js';

/**
 * Bodies that can be read in redis-cli: one character for the kind, the headers if there are any, and the payload.
 *
 * | kind | body |
 * |---|---|
 * | `J` | `J` payload as JSON |
 * | `B` | `B` payload as raw bytes |
 * | `j` | `j` headers as JSON, line feed, payload as JSON |
 * | `b` | `b` headers as JSON, line feed, payload as raw bytes |
 *
 * JSON contains no raw line feed, so the first one ends the headers. A `Buffer` or another `Uint8Array` is stored as bytes and
 * comes back as a `Buffer`. Everything else follows the rules of `JSON.stringify`: a `Date` comes back as text, and a property
 * that is undefined does not come back. What JSON would silently change is refused.
 */
export const jsonCodec: MessageCodec = {
  encode({ payload, headers }: MessageContent): MessageBody {
    const headerLine = Object.keys(headers).length > 0 ? `${JSON.stringify(headers)}\n` : '';
    if (types.isUint8Array(payload)) {
      return Buffer.concat([Buffer.from(headerLine ? `b${headerLine}` : 'B'), payload]);
    }
    return (headerLine ? `j${headerLine}` : 'J') + writeJsonData(payload, JSON.stringify);
  },

  /** The kind, and the line feed after the headers. */
  framingBytes: ({ headers }) => (Object.keys(headers).length > 0 ? 2 : 1),

  decode(body: Buffer): MessageContent {
    const kind = body.toString('latin1', 0, 1);
    switch (kind) {
      case 'J':
        return { payload: fromJson(body, 1), headers: {} };
      case 'B':
        return { payload: Buffer.from(body.subarray(1)), headers: {} };
      case 'j': {
        const end = endOfHeaders(body);
        return { payload: fromJson(body, end + 1), headers: fromJson(body, 1, end) as MessageHeaders };
      }
      case 'b': {
        const end = endOfHeaders(body);
        return { payload: Buffer.from(body.subarray(end + 1)), headers: fromJson(body, 1, end) as MessageHeaders };
      }
      default:
        throw unreadable(
          body,
          body.length === 0 ? 'it is empty' : `kind ${JSON.stringify(kind)} is not one of J, B, j, b`,
        );
    }
  },
};

function fromJson(body: Buffer, start: number, end?: number): unknown {
  try {
    return JSON.parse(body.toString('utf8', start, end)) as unknown;
  } catch {
    // The parser's own error quotes what it read, and payloads must not get into logs.
    throw unreadable(body, 'its JSON is malformed');
  }
}

function endOfHeaders(body: Buffer): number {
  const end = body.indexOf('\n');
  if (end < 0) {
    throw unreadable(body, 'its headers do not end');
  }
  return end;
}

function unreadable(body: Buffer, reason: string): DelayQueueError {
  return new DelayQueueError(
    'INVALID_PAYLOAD',
    `body: its ${body.length} bytes were not written by this codec: ${reason}; ` +
      'use each queue name with one layout and one codec only',
  );
}
