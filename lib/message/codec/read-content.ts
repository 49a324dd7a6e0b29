import { isThenable } from '../failure.js';
import { NO_TYPE } from '../message-type.js';
import type { MessageCodec, MessageContent } from './message-codec.js';

type ContentOf<T> = MessageContent & { readonly payload: T };

/** Decodes a body for display. Returns an unreadable body as bytes, so that it does not hide the other messages. */
export function readContent<T>(codec: MessageCodec, body: Buffer): ContentOf<T> {
  try {
    return codec.decode(body) as ContentOf<T>;
  } catch {
    return { type: NO_TYPE, payload: body as T, headers: {} };
  }
}

/** Returns a payload as the value of a promise: as bytes if it is unreadable or a thenable, for which the promise would wait. */
export function readPayload<T>(codec: MessageCodec, body: Buffer): T {
  const { payload } = readContent<T>(codec, body);
  try {
    return isThenable(payload) ? (body as T) : payload;
  } catch {
    return body as T;
  }
}
