import { DelayQueueError } from '../delay-queue-errors.js';
import type { Expiry, OnExpired } from '../expiry.js';
import { isCounted, parseRule, type RepeatProgress, writeRule } from '../repeat-rule.js';
import { parseRetries, writeRetries } from '../retries.js';
import type { MessageBody, MessageContent } from './message-codec.js';

/* Forms that wrap the codec's body if the queue must know more about the message. If a body has several, they come in this file's order. */

/** What the lines before a body say about its message. */
type Wrapping = Pick<MessageContent, 'group' | 'repeat' | 'retries' | 'expiry'>;

/** What one form says, and the body inside it. */
type Unwrapped<Part extends keyof Wrapping> = { readonly body: Buffer } & Required<Pick<Wrapping, Part>>;

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

interface PutOffBody {
  /** When the message first fell due, ms; null if it was not put off before. */
  readonly since: number | null;
  readonly body: Buffer;
}

export function isPutOff(body: Buffer): boolean {
  return body[0] === PUT_OFF;
}

export function wrapPutOff(body: Buffer, since: number): Buffer {
  return Buffer.concat([Buffer.from(`W${since}\n`), body]);
}

/** Returns the inner body and the time in the wrapper, or the body itself if the message was never put off. */
export function unwrapPutOff(body: Buffer): PutOffBody {
  const end = isPutOff(body) ? body.indexOf('\n') : -1;
  if (end < 0) return { since: null, body };
  const since = Number(body.toString('latin1', 1, end));
  return { since: Number.isSafeInteger(since) ? since : null, body: body.subarray(end + 1) };
}

/** Changes the body inside the wrapper of a message that may have been put off. */
export function changeInside(body: Buffer, change: (inside: Buffer) => MessageBody): Buffer {
  const { since, body: inside } = unwrapPutOff(body);
  const changed = Buffer.from(change(inside));
  return since === null ? changed : wrapPutOff(changed, since);
}

/** The body of a message with a group: `Ngroup`, a line feed, the group, a line feed, the body. Scripts read this form too. */
const GROUP = 'Ngroup\n';

const isGrouped = (body: Buffer): boolean => startsWith(body, GROUP);

function unwrapGroup(body: Buffer): Unwrapped<'group'> | undefined {
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

function ruleLines(rule: RepeatProgress): string {
  const { count = 0, isPaused = false } = rule;
  return `${REPEAT}${writeRule(rule)}\n${progressLines(isCounted(rule) ? String(count) : '', isPaused)}`;
}

/** @param count - empty if occurrences are not counted */
function progressLines(count: string, isPaused: boolean): string {
  const parts = [count, isPaused ? 'paused' : ''].filter((part) => part !== '');
  return parts.length > 0 ? `${PROGRESS}${parts.join(' ')}\n` : '';
}

function unwrapRepeating(body: Buffer): Unwrapped<'repeat'> | undefined {
  const [line, inside] = unwrap(body, REPEAT);
  const rule = parseRule(line);
  const [known, count, isPaused] = /^(\d{1,15})? ?(paused)?$/.exec(progressOf(inside)) ?? [];
  if (!rule || known === undefined) return undefined;
  const progress = { ...(count && { count: Number(count) }), ...(isPaused && { isPaused: true as const }) };
  return { repeat: { ...rule, ...progress }, body: withoutProgress(inside) };
}

/** Returns the body of each occurrence of a repeating body, even if its rule is damaged. Other bodies stay as they are. */
export function occurrenceIn(body: Buffer): Buffer {
  return isRepeating(body) ? withoutProgress(splitAfterRule(body)[1]) : body;
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

const hasRetries = (body: Buffer): boolean => startsWith(body, RETRY);

function unwrapRetries(body: Buffer): Unwrapped<'retries'> | undefined {
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

const isExpiring = (body: Buffer): boolean => startsWith(body, EXPIRES);

function expiryLines({ after, onExpired }: Expiry): string {
  return `${EXPIRES}${after ?? 'never'}${onExpired === undefined ? '' : ` ${onExpired}`}\n`;
}

function unwrapExpiring(body: Buffer): Unwrapped<'expiry'> | undefined {
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

/** Returns the lines before the body of a message; empty for most messages. */
export function linesBefore({ group, repeat, retries, expiry }: Wrapping): string {
  const ofGroup = group === undefined ? '' : `${GROUP}${group}\n`;
  const ofRetries = retries ? `${RETRY}${writeRetries(retries)}\n` : '';
  return ofGroup + (repeat ? ruleLines(repeat) : '') + ofRetries + (expiry ? expiryLines(expiry) : '');
}

export function wrap(lines: string, body: MessageBody): MessageBody {
  return typeof body === 'string' ? lines + body : Buffer.concat([Buffer.from(lines), body]);
}

interface NamedForm {
  readonly isOf: (body: Buffer) => boolean;
  /** Returns the parts of a body of this form; undefined if its second line is damaged. */
  readonly unwrap: (body: Buffer) => (Wrapping & { readonly body: Buffer }) | undefined;
  /** What a damaged body lacks, for the error. */
  readonly damage: string;
}

/** The forms that {@link linesBefore} writes. */
export const NAMED_FORMS: readonly NamedForm[] = [
  { isOf: isExpiring, unwrap: unwrapExpiring, damage: 'it does not say when it expires' },
  { isOf: isGrouped, unwrap: unwrapGroup, damage: 'it does not name its group' },
  { isOf: isRepeating, unwrap: unwrapRepeating, damage: 'it does not say when it repeats' },
  { isOf: hasRetries, unwrap: unwrapRetries, damage: 'it does not say how it is retried' },
];

function startsWith(body: Buffer, line: string): boolean {
  return body.length >= line.length && body.toString('latin1', 0, line.length) === line;
}

/** Returns the second line (empty if it has no end) and the inner body. */
function unwrap(body: Buffer, firstLine: string): [line: string, inside: Buffer] {
  const end = body.indexOf('\n', firstLine.length);
  return [end < 0 ? '' : body.toString('utf8', firstLine.length, end), body.subarray(end + 1)];
}
