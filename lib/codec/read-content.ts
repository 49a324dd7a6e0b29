import type { MessageHeaders } from '../message/message.js';
import type { MessageCodec } from './message-codec.js';

/** Decodes a body for display. One that cannot be read is returned as its bytes, so that it does not hide the others. */
export function readContent<T>(codec: MessageCodec, body: Buffer): { payload: T; headers: MessageHeaders } {
  try {
    const { payload, headers } = codec.decode(body);
    return { payload: payload as T, headers };
  } catch {
    return { payload: body as T, headers: {} };
  }
}

/** The payload alone, to resolve a promise with. A thenable, which the promise would wait for, is returned as its bytes, too. */
export function readPayload<T>(codec: MessageCodec, body: Buffer): T {
  const { payload } = readContent<T>(codec, body);
  return isWaitedFor(payload) ? (body as T) : payload;
}

function isWaitedFor(payload: unknown): boolean {
  try {
    return typeof (payload as { then?: unknown } | null | undefined)?.then === 'function';
  } catch {
    return true;
  }
}
