import type { Expiry, OnExpired } from '../expiry.js';
import type { MessageBody } from './message-codec.js';

/**
 * The body of a message that says when it expires: `Nexpires`, a line feed, how many ms after it falls due or `never`, a space and what
 * becomes of it then if the message says so, a line feed, the body.
 */
const FIRST_LINE = 'Nexpires\n';

const SECOND_LINE = /^(never|\d{1,13})(?: (drop|dead))?\n/;

/** Longer than any second line. */
const LONGEST_LINE = 24;

export function isExpiring(body: Buffer): boolean {
  return body.length >= FIRST_LINE.length && body.toString('latin1', 0, FIRST_LINE.length) === FIRST_LINE;
}

/** What comes before the body. */
export function linesOf({ after, onExpired }: Expiry): string {
  return `${FIRST_LINE}${after ?? 'never'}${onExpired === undefined ? '' : ` ${onExpired}`}\n`;
}

export function wrapExpiring(body: MessageBody, expiry: Expiry): MessageBody {
  const lines = linesOf(expiry);
  return typeof body === 'string' ? lines + body : Buffer.concat([Buffer.from(lines), body]);
}

/** The parts of a body that {@link isExpiring}; undefined: its second line is damaged. */
export function unwrapExpiring(body: Buffer): { readonly expiry: Expiry; readonly body: Buffer } | undefined {
  const start = FIRST_LINE.length;
  const [line, after, onExpired] = SECOND_LINE.exec(body.toString('latin1', start, start + LONGEST_LINE)) ?? [];
  if (line === undefined) return undefined;
  const expiry = { after: after === 'never' ? null : Number(after), onExpired: onExpired as OnExpired | undefined };
  return { expiry, body: body.subarray(start + line.length) };
}
