import type { MessageBody } from './message-codec.js';
import { unwrapSetAside } from './set-aside-body.js';

/** The body of a message that has a group: `Ngroup`, a line feed, the group, a line feed, the body. Scripts read it, too. */
const FIRST_LINE = 'Ngroup\n';

export function isGrouped(body: Buffer): boolean {
  return body.length >= FIRST_LINE.length && body.toString('latin1', 0, FIRST_LINE.length) === FIRST_LINE;
}

/** What comes before the body. */
export function groupLines(group: string): string {
  return `${FIRST_LINE}${group}\n`;
}

export function wrapGroup(body: MessageBody, group: string): MessageBody {
  const lines = groupLines(group);
  return typeof body === 'string' ? lines + body : Buffer.concat([Buffer.from(lines), body]);
}

/** The parts of a body that {@link isGrouped}; undefined: its second line is damaged. */
export function unwrapGroup(body: Buffer): { readonly group: string; readonly body: Buffer } | undefined {
  const end = body.indexOf('\n', FIRST_LINE.length);
  if (end <= FIRST_LINE.length) return undefined;
  return { group: body.toString('utf8', FIRST_LINE.length, end), body: body.subarray(end + 1) };
}

/** The group of a message, also of one that was set aside; undefined: it has none. */
export function groupOf(body: Buffer): string | undefined {
  const { body: inside } = unwrapSetAside(body);
  return isGrouped(inside) ? unwrapGroup(inside)?.group : undefined;
}
