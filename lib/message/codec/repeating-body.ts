import { isRule, type RepeatRule } from '../repeat-rule.js';
import type { MessageBody } from './message-codec.js';

/** The body of a message that repeats: `Nrepeat`, a line feed, its rule as JSON, a line feed, the body of each occurrence. */
const FIRST_LINE = 'Nrepeat\n';

export function isRepeating(body: Buffer): boolean {
  return body.length >= FIRST_LINE.length && body.toString('latin1', 0, FIRST_LINE.length) === FIRST_LINE;
}

/** What comes before the body. */
export function ruleLines({ cron, timeZone, missed }: RepeatRule): string {
  return `${FIRST_LINE}${JSON.stringify({ cron, timeZone, missed })}\n`;
}

export function wrapRepeating(body: MessageBody, rule: RepeatRule): MessageBody {
  const lines = ruleLines(rule);
  return typeof body === 'string' ? lines + body : Buffer.concat([Buffer.from(lines), body]);
}

/** The parts of a body that {@link isRepeating}; `rule` is undefined if it is damaged. */
export function unwrapRepeating(body: Buffer): { readonly rule: RepeatRule | undefined; readonly body: Buffer } {
  const end = body.indexOf('\n', FIRST_LINE.length);
  const rule = end < 0 ? undefined : parsed(body.toString('utf8', FIRST_LINE.length, end));
  return { rule, body: body.subarray(end + 1) };
}

function parsed(text: string): RepeatRule | undefined {
  try {
    const rule = JSON.parse(text) as unknown;
    return isRule(rule) ? rule : undefined;
  } catch {
    return undefined;
  }
}
