import type { MessageHeaders } from '../message/message.js';
import type { MessageCodec } from './message-codec.js';

/** Decodes a body for looking at. One that cannot be read is shown as its bytes: it must not hide the others. */
export function readContent<T>(codec: MessageCodec, body: Buffer): { payload: T; headers: MessageHeaders } {
  try {
    const { payload, headers } = codec.decode(body);
    return { payload: payload as T, headers };
  } catch {
    return { payload: body as T, headers: {} };
  }
}

/** The payload alone, for a promise to deliver. One that a promise would wait for instead is shown as its bytes, too. */
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
