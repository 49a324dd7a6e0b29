import ms from 'ms';
import {
  type ComputedBackoff,
  EncryptedPayload,
  type HandledMessage,
  type MessageFailure,
  type MessageSnapshot,
  type RepeatProgress,
} from 'nestjs-delay-queue';
import { counted } from './counted.js';
import { shownPayload } from './shown-payload.js';
import { fieldsOf } from './table.js';

/** Shows a message with all that is known of it. */
export function fieldsOfMessage(message: MessageSnapshot): string[] {
  const { dueAt, offeredAt, leasedUntil, diedAt, error, backoff, expiresAt, repeat } = message;
  const fields = firstFieldsOf(message);
  fields.push(['failed attempts', String(attemptsOf(message))]);
  if (backoff) fields.push(['backoff', backoffText(backoff)]);
  fields.push(['offered', offeredAt.toISOString()], ['due', dueAt.toISOString()]);
  if (repeat) fields.push(['repeats', repeatText(repeat)]);
  if (expiresAt) fields.push(['expires', expiresAt.toISOString()]);
  if (leasedUntil) fields.push(['leased until', leasedUntil.toISOString()]);
  if (diedAt) fields.push(['died', diedAt.toISOString()]);
  if (error) fields.push(['error', errorText(error)], ...stackOf(error));
  fields.push(['payload', payloadText(message.payload)]);
  return fieldsOf(fields);
}

/** Shows what the queue remembers of a handled message. */
export function fieldsOfHandled(message: HandledMessage): string[] {
  const { headers, attempt, attempts, backoff, offeredAt, dueAt, handledAt, worker } = message;
  const fields = firstFieldsOf(message);
  fields.push(['attempt', attempts === undefined ? String(attempt) : `${attempt} of ${attempts}`]);
  if (backoff) fields.push(['backoff', backoffText(backoff)]);
  fields.push(['offered', offeredAt.toISOString()], ['due', dueAt.toISOString()], ['handled', handledAt.toISOString()]);
  fields.push(['late', `${message.lateness} ms`], ['took', `${message.took} ms`]);
  fields.push(['worker', `${worker.host}, process ${worker.pid}, ${worker.id}`]);
  if (headers) fields.push(['payload', payloadText(message.payload)]);
  return fieldsOf(fields);
}

/** What a message says of itself, whatever has become of it. */
function firstFieldsOf(message: MessageSnapshot | HandledMessage): [string, string][] {
  const { id, queue, state, type, group, headers } = message;
  const fields: [string, string][] = [
    ['id', id],
    ['queue', queue],
    ['state', state],
  ];
  if (type) fields.push(['type', type]);
  if (group !== undefined) fields.push(['group', group]);
  if (headers && Object.keys(headers).length > 0) fields.push(['headers', JSON.stringify(headers)]);
  return fields;
}

/** The same for programs. `payloadBase64` holds bytes, whether offered as such, unreadable or encrypted. */
export function recordOfMessage<T extends { readonly payload?: unknown }>(message: T): object {
  const { payload, ...rest } = message;
  // A handled message need not have one.
  if (!('payload' in message)) return rest;
  if (payload instanceof EncryptedPayload) {
    return { ...rest, encryptedWith: payload.key, payloadBase64: Buffer.from(payload.bytes).toString('base64') };
  }
  return Buffer.isBuffer(payload)
    ? { ...rest, payloadBase64: payload.toString('base64') }
    : { ...rest, payload: shownPayload(payload) };
}

/** The number of failed attempts; `2 of 3` if the message has its own attempts. */
export function attemptsOf({ failedAttempts, attempts }: MessageSnapshot): string | number {
  return attempts === undefined ? failedAttempts : `${failedAttempts} of ${attempts}`;
}

function backoffText(backoff: ComputedBackoff): string {
  const jitter = backoff.jitter > 0 ? `, ± ${backoff.jitter * 100} %` : '';
  if (backoff.type === 'fixed') return `${backoff.delay} ms${jitter}`;
  return `${backoff.delay} ms × ${backoff.factor}, up to ${backoff.maxDelay} ms${jitter}`;
}

const MISSED = { once: '', skip: ', skips missed occurrences', each: ', makes up for each missed occurrence' } as const;

/** Shows a rule to people. */
export function repeatText(rule: RepeatProgress): string {
  const { cron, timeZone, every, missed, startsAt, endsAt, limit, count, isPaused } = rule;
  const bounds = [
    ...(startsAt ? [`from ${startsAt.toISOString()}`] : []),
    ...(endsAt ? [`until ${endsAt.toISOString()}`] : []),
    ...(limit === undefined ? [] : [`${count ?? 0} of ${limit}`]),
  ];
  const times = cron === undefined ? `every ${ms(every!)} (` : `${cron} (${timeZone}`;
  const details = `${times}${bounds.map((bound) => `, ${bound}`).join('')}${MISSED[missed]}${isPaused ? ', paused' : ''})`;
  return details.replace('(, ', '(').replace(' ()', '');
}

export function errorText({ name, message }: MessageFailure): string {
  return `${name}: ${message}`;
}

export function payloadText(payload: unknown): string {
  if (payload instanceof EncryptedPayload) {
    return `encrypted with key '${payload.key}' (${counted(payload.bytes.length, 'byte')}); see --encryption`;
  }
  if (!Buffer.isBuffer(payload)) return JSON.stringify(shownPayload(payload)) ?? 'undefined';
  return `${counted(payload.length, 'byte')}, base64: ${payload.toString('base64')}`;
}

/** The stack without its first line, which repeats the error. */
function stackOf({ stack = '' }: MessageFailure): [string, string][] {
  const lines = stack.split('\n').filter((line) => /^\s+at /.test(line));
  return lines.map((line) => ['', line.trim()]);
}
