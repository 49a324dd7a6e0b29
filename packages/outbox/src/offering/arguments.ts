import { types } from 'node:util';
import ms from 'ms';
import { DelayQueueError } from 'nestjs-delay-queue';
import { shown } from './shown.js';

const QUEUE_NAME = /^[A-Za-z0-9_.:-]{1,128}$/;
const MESSAGE_TYPE = /^[A-Za-z0-9_.:-]{1,64}$/;
const MAX_ID_BYTES = 256;
const NO_ID_CHARACTER = /[\p{Control}\p{Surrogate}]/u;
/** 100 years, ms. */
const MAX_DELAY = 100 * 365.25 * 24 * 60 * 60 * 1000;
const LAST_INSTANT = Date.UTC(9999, 11, 31);

export type Due = { readonly after: number } | { readonly at: number };

/** The error for an argument that is malformed or out of range. */
export function invalid(problem: string, cause?: unknown): DelayQueueError {
  return new DelayQueueError('INVALID_ARGUMENT', problem, { cause });
}

export function readQueueName(queue: unknown): string {
  if (typeof queue === 'string' && QUEUE_NAME.test(queue)) return queue;
  throw invalid(`queue: a queue name has 1–128 of the characters A–Z a–z 0–9 _ . : -, not ${shown(queue)}`);
}

export function readId(id: unknown): string {
  return readName(id, 'id: a message id');
}

export function readGroup(group: unknown): string {
  return readName(group, 'group: the name of a group');
}

function readName(name: unknown, what: string): string {
  const fits = typeof name === 'string' && name.length > 0 && Buffer.byteLength(name) <= MAX_ID_BYTES;
  if (fits && !NO_ID_CHARACTER.test(name)) return name;
  const rule = `text of 1–${MAX_ID_BYTES} bytes without control characters or unpaired surrogates`;
  throw invalid(`${what} must be ${rule}, not ${shown(name)}`);
}

export function readType(type: unknown): string {
  if (typeof type === 'string' && MESSAGE_TYPE.test(type)) return type;
  const rule = 'a message type has 1–64 of the characters A–Z a–z 0–9 _ . : -';
  throw invalid(`type: ${rule}, not ${shown(type)}; leave it out for none`);
}

export function readDelay(delay: unknown, name = 'delay'): { readonly after: number } {
  return { after: readDuration(delay, name, 0) };
}

/** @returns ms */
export function readDuration(delay: unknown, name: string, least: number): number {
  const after = toMilliseconds(delay);
  if (after === undefined) {
    throw invalid(
      `${name} is not a duration: use milliseconds or text such as '30s', '10m' or '2h', with one of the units ` +
        `ms, s, m (minutes), h, d, w, y, not ${shown(delay)}`,
    );
  }
  if (!Number.isSafeInteger(after)) {
    throw invalid(`${name} must be a whole number of milliseconds, not ${shown(delay)}`);
  }
  if (after < least || after > MAX_DELAY) {
    throw invalid(`${name} must be between ${least} ms and ${MAX_DELAY} ms, not ${shown(delay)}`);
  }
  return after;
}

export function readDate(date: unknown, name = 'date'): { readonly at: number } {
  const at = types.isDate(date) ? Date.prototype.getTime.call(date) : NaN;
  if (at >= 0 && at <= LAST_INSTANT) return { at };
  throw invalid(`${name} must be a valid Date between 1970 and 9999`);
}

export function readDue(due: unknown): Due {
  return types.isDate(due) ? readDate(due) : readDelay(due);
}

/** Reads a value with either a delay or an instant. */
export function readEither(delay: unknown, at: unknown): Due {
  if ((delay === undefined) !== (at === undefined)) return at === undefined ? readDelay(delay) : readDate(at, 'at');
  throw invalid(`it must have either a delay or at, a Date, but has ${at === undefined ? 'neither' : 'both'}`);
}

/** Reads the fields of an object, each once. @param place - its name in errors */
export function readFields<Field extends string>(
  given: unknown,
  place: string,
  fields: readonly Field[],
): Partial<Record<Field, unknown>> {
  const rule = `${place}: must be an object with ${fields.join(', ')}`;
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw invalid(`${rule}, not ${shown(given)}`);
  try {
    const unknown = Object.keys(given).find((key) => !(fields as readonly string[]).includes(key));
    if (unknown === undefined) {
      return Object.fromEntries(fields.map((field) => [field, (given as Record<string, unknown>)[field]])) as never;
    }
    throw invalid(`${rule}, not ${shown(unknown)}`);
  } catch (cause) {
    if (cause instanceof DelayQueueError) throw cause;
    throw invalid(`${place}: it cannot be read (${String(cause)})`, cause);
  }
}

function toMilliseconds(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isNaN(value) ? undefined : value;
  // `ms` throws on the empty string and on more than 100 characters.
  if (typeof value !== 'string' || value.length === 0 || value.length > 100) return undefined;
  // `ms` ignores case, but M means months elsewhere.
  return value.endsWith('M') ? undefined : ms(value as ms.StringValue);
}
