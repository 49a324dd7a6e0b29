import type { MessageBody } from './message-codec.js';

/**
 * The body of a message that no process could handle so far: `W`, the instant in ms at which it fell due for the first time, a
 * line feed, the body. The instant has to travel with the message, because each deferral moves its due time and any process may
 * be the next to claim it.
 */
export const SET_ASIDE = 'W'.charCodeAt(0);

export interface SetAsideBody {
  /** When it fell due for the first time, ms; null if it was not set aside before. */
  readonly since: number | null;
  readonly body: Buffer;
}

export function isSetAside(body: Buffer): boolean {
  return body[0] === SET_ASIDE;
}

export function wrapSetAside(body: Buffer, since: number): MessageBody {
  return Buffer.concat([Buffer.from(`W${since}\n`), body]);
}

/** The body inside; of a body that was never set aside, itself. */
export function unwrapSetAside(body: Buffer): SetAsideBody {
  const end = isSetAside(body) ? body.indexOf('\n') : -1;
  if (end < 0) return { since: null, body };
  const since = Number(body.toString('latin1', 1, end));
  return { since: Number.isSafeInteger(since) ? since : null, body: body.subarray(end + 1) };
}
