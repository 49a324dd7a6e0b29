import type { MessageHeaders } from '../message.js';
import type { MessageCodec } from '../store/message-store.js';

/** Decodes a body for looking at. One that cannot be read is shown as its bytes: it must not hide the others. */
export function readContent<T>(codec: MessageCodec, body: Buffer): { payload: T; headers: MessageHeaders } {
  try {
    const { payload, headers } = codec.decode(body);
    return { payload: payload as T, headers };
  } catch {
    return { payload: body as T, headers: {} };
  }
}
