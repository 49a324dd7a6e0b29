import { DelayQueueError } from '../delay-queue-errors.js';
import type { Expiry, OnExpired } from '../expiry.js';
import { isCounted, parseRule, type RepeatProgress, writeRule } from '../repeat-rule.js';
import { parseRetries, type Retries, writeRetries } from '../retries.js';
import type { MessageBody } from './message-codec.js';

/* Forms that wrap the codec's body if the queue must know more about the message. If a body has several, they come in this file's order. */

/** Thrown for a body in a form unknown to this process, but perhaps not to others: a rolling deploy may already run a newer version. */
export class UnknownBodyForm extends DelayQueueError {
  constructor(
    readonly form: string,
    problem = `this version cannot read its form '${form}'; a newer one wrote it`,
  ) {
    super('INVALID_PAYLOAD', `body: ${problem}`);
  }
}

/**
 * The body of a message that was put off: `W`, the time in ms at which it first fell due, a line feed, the body. That time travels with the
 * message, because each deferral moves its due time and any process may claim it next.
 */
export const PUT_OFF = 'W'.charCodeAt(0);

export interface PutOffBody {
  /** When the message first fell due, ms; null if it was not put off before. */
  readonly since: number | null;
  readonly body: Buffer;
}

export function isPutOff(body: Buffer): boolean {
  return body[0] === PUT_OFF;
}

export function wrapPutOff(body: Buffer, since: number): MessageBody {
  return Buffer.concat([Buffer.from(`W${since}\n`), body]);
}

/** Returns the inner body and the time in the wrapper, or the body itself if the message was never put off. */
export function unwrapPutOff(body: Buffer): PutOffBody {
  const end = isPutOff(body) ? body.indexOf('\n') : -1;
  if (end < 0) return { since: null, body };
  const since = Number(body.toString('latin1', 1, end));
  return { since: Number.isSafeInteger(since) ? since : null, body: body.subarray(end + 1) };
}

/** The body of a message with a group: `Ngroup`, a line feed, the group, a line feed, the body. Scripts read this form too. */
const GROUP = 'Ngroup\n';

export const isGrouped = (body: Buffer): boolean => startsWith(body, GROUP);

export const groupLines = (group: string): string => `${GROUP}${group}\n`;

export function wrapGroup(body: MessageBody, group: string): MessageBody {
  return wrap(groupLines(group), body);
}

/** Returns the parts of a body for which {@link isGrouped} is true; undefined if its second line is damaged. */
export function unwrapGroup(body: Buffer): { readonly group: string; readonly body: Buffer } | undefined {
  const [group, inside] = unwrap(body, GROUP);
  return group ? { group, body: inside } : undefined;
}

/** Returns the group of a message, even if it was put off; undefined if it has none. */
export function groupOf(body: Buffer): string | undefined {
  const { body: inside } = unwrapPutOff(body);
  return isGrouped(inside) ? unwrapGroup(inside)?.group : undefined;
}

/**
 * The body of a repeating message: `Nrepeat`, a line feed, its rule as JSON, a line feed; if occurrences are counted or the repetition is
 * paused, `Nprogress`, a line feed, how many occurrences are over, `paused`, or both with a space between them, a line feed; and the body
 * of each occurrence. Scripts read both forms and change the second.
 */
const REPEAT = 'Nrepeat\n';
const PROGRESS = 'Nprogress\n';

export const isRepeating = (body: Buffer): boolean => startsWith(body, REPEAT);

export function ruleLines(rule: RepeatProgress): string {
  const { count = 0, isPaused = false } = rule;
  return `${REPEAT}${writeRule(rule)}\n${progressLines(isCounted(rule) ? String(count) : '', isPaused)}`;
}

/** @param count - empty if occurrences are not counted */
function progressLines(count: string, isPaused: boolean): string {
  const parts = [count, isPaused ? 'paused' : ''].filter((part) => part !== '');
  return parts.length > 0 ? `${PROGRESS}${parts.join(' ')}\n` : '';
}

export function wrapRepeating(body: MessageBody, rule: RepeatProgress): MessageBody {
  return wrap(ruleLines(rule), body);
}

/** Returns the parts of a body for which {@link isRepeating} is true; `rule` is undefined if it is damaged. */
export function unwrapRepeating(body: Buffer): { readonly rule: RepeatProgress | undefined; readonly body: Buffer } {
  const [line, inside] = unwrap(body, REPEAT);
  const rule = parseRule(line);
  const [known, count, isPaused] = /^(\d{1,15})? ?(paused)?$/.exec(progressOf(inside)) ?? [];
  const progress = { ...(count && { count: Number(count) }), ...(isPaused && { isPaused: true as const }) };
  return { rule: known === undefined ? undefined : rule && { ...rule, ...progress }, body: withoutProgress(inside) };
}

/** Returns the progress with which a body begins; empty if there is none. */
function progressOf(inside: Buffer): string {
  return startsWith(inside, PROGRESS) ? unwrap(inside, PROGRESS)[0] : '';
}

/** Returns a body without the progress with which it begins. An older version that ends a repetition leaves the progress behind. */
export function withoutProgress(inside: Buffer): Buffer {
  return startsWith(inside, PROGRESS) ? unwrap(inside, PROGRESS)[1] : inside;
}

/** Returns the lines of a repeating body that contain its rule, and all that follows them. */
function splitAfterRule(body: Buffer): readonly [rule: Buffer, inside: Buffer] {
  const end = body.indexOf('\n', REPEAT.length) + 1;
  return [body.subarray(0, end), body.subarray(end)];
}

/** Returns a repeating body with its progress changed: pauses it or not, or sets the count. Keeps the rule, even one that is damaged. */
export function withProgress(body: Buffer, change: { readonly isPaused?: boolean; readonly count?: number }): Buffer {
  const [rule, inside] = splitAfterRule(body);
  const count = change.count?.toString() ?? /^\d*/.exec(progressOf(inside))![0];
  const lines = progressLines(count, change.isPaused ?? isPausedIn(inside));
  return Buffer.concat([rule, Buffer.from(lines), withoutProgress(inside)]);
}

const isPausedIn = (inside: Buffer): boolean => progressOf(inside).endsWith('paused');

/** True if a repeating body is paused. */
export function isPausedRepeat(body: Buffer): boolean {
  return isRepeating(body) && isPausedIn(splitAfterRule(body)[1]);
}

/** Returns a repeating body without its progress, to compare rules and contents. Other bodies stay as they are. */
export function ruleAndContent(body: Buffer): Buffer {
  if (!isRepeating(body)) return body;
  const [rule, inside] = splitAfterRule(body);
  return Buffer.concat([rule, withoutProgress(inside)]);
}

/**
 * The body of a message with its own attempts or backoff: `Nretry`, a line feed, what `retries.ts` writes, a line feed, the body. Scripts
 * read the attempts.
 */
const RETRY = 'Nretry\n';

export const hasRetries = (body: Buffer): boolean => startsWith(body, RETRY);

export const retryLines = (retries: Retries): string => `${RETRY}${writeRetries(retries)}\n`;

export function wrapRetries(body: MessageBody, retries: Retries): MessageBody {
  return wrap(retryLines(retries), body);
}

/** Returns the parts of a body for which {@link hasRetries} is true; undefined if its second line is damaged. */
export function unwrapRetries(body: Buffer): { readonly retries: Retries; readonly body: Buffer } | undefined {
  const [line, inside] = unwrap(body, RETRY);
  const retries = parseRetries(line);
  return retries && { retries, body: inside };
}

/** Returns a message's own attempts, even if it was put off; undefined if it has none. */
export function ownAttempts(body: Buffer): number | undefined {
  const { body: inside } = unwrapPutOff(body);
  const rest = withoutProgress(isGrouped(inside) ? (unwrapGroup(inside)?.body ?? inside) : inside);
  return hasRetries(rest) ? unwrapRetries(rest)?.retries.attempts : undefined;
}

/**
 * The body of a message with its own expiry: `Nexpires`, a line feed, `never` or a number of ms after its due time, optionally a space and
 * `drop` or `dead`, a line feed, the body.
 */
const EXPIRES = 'Nexpires\n';

export const isExpiring = (body: Buffer): boolean => startsWith(body, EXPIRES);

export function expiryLines({ after, onExpired }: Expiry): string {
  return `${EXPIRES}${after ?? 'never'}${onExpired === undefined ? '' : ` ${onExpired}`}\n`;
}

export function wrapExpiring(body: MessageBody, expiry: Expiry): MessageBody {
  return wrap(expiryLines(expiry), body);
}

/** Returns the parts of a body for which {@link isExpiring} is true; undefined if its second line is damaged. */
export function unwrapExpiring(body: Buffer): { readonly expiry: Expiry; readonly body: Buffer } | undefined {
  const [line, inside] = unwrap(body, EXPIRES);
  const [, after, onExpired] = /^(never|\d{1,13})(?: (drop|dead))?$/.exec(line) ?? [];
  if (after === undefined) return undefined;
  const expiry = { after: after === 'never' ? null : Number(after), onExpired: onExpired as OnExpired | undefined };
  return { expiry, body: inside };
}

/**
 * The body of a message with an encrypted payload: `Nencrypted`, a line feed, the name of the key, a line feed, and a body whose payload is
 * bytes: the nonce, the encrypted payload and headers, and the tag. The type stays readable.
 */
const ENCRYPTED = 'Nencrypted\n';

export const encryptedLines = (key: string): string => `${ENCRYPTED}${key}\n`;

export function wrapEncrypted(body: MessageBody, key: string): MessageBody {
  return wrap(encryptedLines(key), body);
}

function startsWith(body: Buffer, line: string): boolean {
  return body.length >= line.length && body.toString('latin1', 0, line.length) === line;
}

function wrap(lines: string, body: MessageBody): MessageBody {
  return typeof body === 'string' ? lines + body : Buffer.concat([Buffer.from(lines), body]);
}

/** Returns the second line (empty if it has no end) and the inner body. */
function unwrap(body: Buffer, firstLine: string): [line: string, inside: Buffer] {
  const end = body.indexOf('\n', firstLine.length);
  return [end < 0 ? '' : body.toString('utf8', firstLine.length, end), body.subarray(end + 1)];
}
