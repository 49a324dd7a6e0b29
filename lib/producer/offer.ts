import { types } from 'node:util';
import { DelayQueueError } from '../message/delay-queue.errors.js';
import { type Duration, readDelay } from '../message/duration.js';
import { assertMessageId } from '../message/message-id.js';
import type { MessageHeaders } from '../message/message.js';
import { showGiven } from '../message/show-given.js';
import { lossOf } from '../codec/json-loss.js';
import type { DueTime, OnDuplicate } from '../store/message-intake.js';
import { isLiteral, readFields, reading } from '../message/read-fields.js';

/** What can be said about an offer besides payload and delay. */
export interface OfferOptions {
  /** Text of 1–256 bytes without control characters. Default: generated, 16 characters that sort in the order of offers. */
  readonly id?: string;
  /** Text values that travel with the payload. Default: none. */
  readonly headers?: MessageHeaders;
  /**
   * If a message of this id is in the queue, in whatever state: `'keep'` leaves it, `'replace'` puts the new one in its
   * place (a handler that holds the old one loses its lease), `'reject'` fails with `DUPLICATE_MESSAGE`. Default `'keep'`.
   */
  readonly onDuplicate?: OnDuplicate;
}

/** One message of `offerMany`. */
export interface OfferRequest<T = unknown> extends OfferOptions {
  /** JSON values or a `Buffer`. */
  readonly payload: T;
  /** 0 ms – 100 years. */
  readonly delay: Duration;
}

/** What became of an offer. */
export interface OfferResult {
  /** The given id, or the generated one. */
  readonly id: string;
  /** When the message of this id falls due, by the clock of Redis: the new one, or the one that was kept. */
  readonly dueAt: Date;
  /** Whether the id was free; false if a message of this id was kept or replaced. */
  readonly created: boolean;
}

const NO_OPTIONS: OfferOptions = {};
const LAST_INSTANT = Date.UTC(9999, 11, 31);
const ON_DUPLICATE: readonly unknown[] = ['keep', 'replace', 'reject'] satisfies OnDuplicate[];
const OPTIONS: readonly (keyof OfferOptions)[] = ['id', 'headers', 'onDuplicate'];
const REQUEST: readonly (keyof OfferRequest)[] = ['payload', 'delay', ...OPTIONS];

/**
 * @throws DelayQueueError `INVALID_ARGUMENT`
 */
export function dueAfter(delay: Duration): DueTime {
  return { after: readDelay(delay) };
}

/**
 * @throws DelayQueueError `INVALID_ARGUMENT`
 */
export function dueAt(date: Date): DueTime {
  // Also of another realm, and whatever its class makes of it.
  const at = types.isDate(date) ? Date.prototype.getTime.call(date) : NaN;
  if (!(at >= 0 && at <= LAST_INSTANT)) {
    throw new DelayQueueError('INVALID_ARGUMENT', 'date must be a valid Date between 1970 and 9999');
  }
  return { at };
}

/**
 * Takes each of a list of messages; errors name the one that they are about.
 *
 * @throws DelayQueueError `INVALID_ARGUMENT`, and what `take` throws
 */
export function readEach<T, R>(messages: readonly T[], take: (message: T) => R): R[] {
  if (!reading('messages', () => Array.isArray(messages))) {
    throw new DelayQueueError(
      'INVALID_ARGUMENT',
      'messages: must be an array; of another iterable, offer [...messages]',
    );
  }
  const taken: R[] = [];
  const length = reading('messages', () => messages.length);
  // By index, which shows holes.
  for (let i = 0; i < length; i++) {
    try {
      taken.push(take(reading('it', () => messages[i]!)));
    } catch (error) {
      if (!(error instanceof DelayQueueError)) throw error;
      const { code, message, cause } = error;
      throw new DelayQueueError(code, `messages[${i}]: ${message}`, { cause });
    }
  }
  return taken;
}

/**
 * @throws DelayQueueError `INVALID_ARGUMENT`
 */
export function readRequest<T>(given: OfferRequest<T>): OfferRequest<T> {
  return readFields(given, 'it', REQUEST) as OfferRequest<T>;
}

/**
 * Takes what is said about an offer, each field read once.
 *
 * @throws DelayQueueError `INVALID_ARGUMENT`
 */
export function readOfferOptions(given: OfferOptions | undefined): OfferOptions {
  return given === undefined ? NO_OPTIONS : checkOfferOptions(readFields(given, 'options', OPTIONS));
}

/**
 * Checks what was read of an offer's options.
 *
 * @throws DelayQueueError `INVALID_ARGUMENT`
 */
export function checkOfferOptions({ id, headers, onDuplicate }: OfferOptions): OfferOptions {
  if (id !== undefined) assertMessageId(id);
  if (onDuplicate !== undefined && !ON_DUPLICATE.includes(onDuplicate)) {
    throw new DelayQueueError('INVALID_ARGUMENT', "onDuplicate must be 'keep', 'replace' or 'reject'");
  }
  return { id, headers: headers === undefined ? undefined : readHeaders(headers), onDuplicate };
}

function readHeaders(given: MessageHeaders): MessageHeaders {
  if (typeof given !== 'object' || (given as unknown) === null || reading('headers', () => Array.isArray(given))) {
    throw new DelayQueueError('INVALID_ARGUMENT', 'headers must be an object of text values');
  }
  const loss = reading('headers', () => (isLiteral(given) ? undefined : lossOf(given)));
  if (loss) {
    throw new DelayQueueError('INVALID_ARGUMENT', `headers: must be a plain object, not ${loss.what}; ${loss.advice}`);
  }
  const headers = reading('headers', () => copyOf(given));
  for (const name in headers) {
    const value: unknown = headers[name];
    if (typeof value !== 'string') throw wrongHeader(name, `must be text, not ${showGiven(value)}`);
    if (!name.isWellFormed() || !value.isWellFormed()) {
      throw wrongHeader(name, 'half of a surrogate pair is not text');
    }
  }
  return headers;
}

/** With a shape of its own, which is quicker to write as JSON than what `Object.fromEntries` makes. */
function copyOf(given: MessageHeaders): Record<string, string> {
  const copy: Record<string, string> = {};
  for (const name of Object.keys(given)) {
    const value = given[name]!;
    // Assigned, it would become the prototype.
    if (name === '__proto__') Object.defineProperty(copy, name, { value, enumerable: true });
    else copy[name] = value;
  }
  return copy;
}

function wrongHeader(name: string, problem: string): DelayQueueError {
  return new DelayQueueError('INVALID_ARGUMENT', `headers[${showGiven(name)}] ${problem}`);
}
