import { DelayQueueError } from '../message/delay-queue-errors.js';
import type { Retries } from '../message/retries.js';
import type { RetryOptions } from '../options/queue-options.js';
import { readRetries } from '../options/resolve-options.js';
import { type Expiry, readExpiry } from '../message/expiry.js';
import { type CheckedDuration, type DueTime, type Duration, readEither, readMaxWait } from '../message/duration.js';
import { assertGroup, assertMessageId, assertMessageType, NO_TYPE } from '../message/message-id.js';
import type { MessageHeaders } from '../message/message.js';
import { showGiven } from '../message/show-given.js';
import { lossOf } from '../message/codec/json-loss.js';
import type { OnDuplicate } from '../store/producer-store.js';
import { isLiteral, readFields, reading } from '../message/read-fields.js';

/** The options of an offer. */
export interface OfferOptions extends RetryOptions {
  /** The type, which determines the handler. 1–64 of the characters `A–Z a–z 0–9 _ . : -`. Not available in every layout. Default: none. */
  readonly type?: string | undefined;
  /** A string of 1–256 bytes, no control characters. Default: 16 generated characters (18 with `partitions`), sortable by time of offer. */
  readonly id?: string | undefined;
  /** Named strings that are stored with the payload. Default: none. */
  readonly headers?: MessageHeaders | undefined;
  /**
   * What to do if a message with this id exists, in any state. `'keep'` keeps the old message and ignores the new one. `'replace'` replaces
   * the old message; if a handler holds it, the handler loses its lease. `'reject'` fails with `DUPLICATE_MESSAGE`. `'follow'` keeps the
   * old message; if it is active, the new message waits until the old one is done, and only then starts its delay. A later follower
   * replaces an earlier one. `'follow'` is not available in every layout, nor in a queue with `idsFor`. In such a queue, a message that was
   * handled counts as existing, and all but `'reject'` ignore the new one. Default: `'keep'`.
   */
  readonly onDuplicate?: 'keep' | 'replace' | 'reject' | 'follow' | undefined;
  /**
   * The message's group, such as `customer-7`: a string of 1–256 bytes without control characters. The queue's option `groups`, which every
   * process must set, says how a group's messages are handled; `producer.group` manages them together. Default: none.
   */
  readonly group?: string | undefined;
  /**
   * How late the handler may start, counted from the message's first due time. After that, the message has expired and is not handled.
   * Retries and deferrals do not extend this time. 0 ms – 100 years, or `'never'`. Not available in every layout. Default: the queue's
   * `expiresAfter` in the process that handles the message.
   */
  readonly expiresAfter?: Duration | 'never' | undefined;
  /** `'drop'` removes an expired message, `'dead'` makes it a dead letter. Needs `expiresAfter`. Default: the queue's `onExpired`. */
  readonly onExpired?: 'drop' | 'dead' | undefined;
  /**
   * Limits a debounce, that is, a series of offers with this id, each of which replaces the previous message while that is still delayed.
   * The due time never moves beyond `maxWait` after the first offer, whose `offeredAt` the message keeps. 1 ms – 100 years; requires `id`
   * and `onDuplicate: 'replace'`. Not available in every layout. Default: none.
   */
  readonly maxWait?: Duration | undefined;
}

/** When a message of `offerMany` falls due: after a `delay`, or `at` a given time. */
export type OfferDue<Delay extends Duration = Duration> =
  | {
      /** 0 ms – 100 years, by Redis' clock. */
      readonly delay: CheckedDuration<Delay>;
      /** Cannot be combined with `delay`. */
      readonly at?: undefined;
    }
  | {
      /** Between 1970 and 9999, by Redis' clock. */
      readonly at: Date;
      /** Cannot be combined with `at`. */
      readonly delay?: undefined;
    };

/** One message of `offerMany`. */
export type OfferRequest<T = unknown> = OfferOptions &
  OfferDue & {
    /** JSON values or a `Buffer`. */
    readonly payload: T;
  };

/** The messages of `offerMany`, each with a delay that the compiler checks. */
export type CheckedRequests<Request, Delays extends readonly Duration[]> = {
  readonly [Index in keyof Delays]: Request & OfferDue<Delays[Index]>;
};

/** The result of an offer. */
export interface OfferResult {
  /** The id given, or the generated one. */
  readonly id: string;
  /**
   * The due time, by Redis' clock, of the new message, or of the existing one that was kept or is followed; if the offer was ignored because
   * a message with this id has been handled (the queue's option `idsFor`), the time of that.
   */
  readonly dueAt: Date;
  /** True if the id was free; false if a message with this id existed and was kept, replaced or followed, or was handled. */
  readonly created: boolean;
  /** Present, and true, only if the new message follows an active one (`onDuplicate: 'follow'`). */
  readonly follows?: true;
  /** Present only if the offer was ignored because a message with this id was handled then, by Redis' clock (the queue's option `idsFor`). */
  readonly handledAt?: Date;
}

/** The options of an offer to a typed queue, which takes the type as an argument. */
export type TypedOfferOptions = Omit<OfferOptions, 'type'>;

export interface CheckedOfferOptions extends Pick<OfferOptions, 'type' | 'id' | 'headers' | 'onDuplicate'> {
  /** Rarely used options; undefined for most offers. */
  readonly special?: SpecialOptions | undefined;
}

export interface SpecialOptions {
  readonly group?: string | undefined;
  readonly expiry?: Expiry | undefined;
  readonly retries?: Retries | undefined;
  /** ms */
  readonly maxWait?: number | undefined;
  /** The time, on the monotonic clock, after which the offer has no effect. */
  readonly notAfter?: number | undefined;
}

/**
 * A message that has been read and checked. Each message of a list is an instance of a class: V8 would soon allocate objects of a literal,
 * many of which are in use when it collects the young ones, among the old ones, where they keep their payloads until a full collection.
 */
export class NewMessage {
  /** The id generated for the observers, if the message was given none. */
  declare readonly newId?: string;

  constructor(
    readonly payload: unknown,
    readonly due: DueTime,
    readonly options: CheckedOfferOptions,
  ) {}
}

const NO_OPTIONS: CheckedOfferOptions = {};
const ON_DUPLICATE: readonly unknown[] = ['keep', 'replace', 'reject', 'follow'] satisfies OnDuplicate[];
const TYPED_OPTIONS: readonly (keyof TypedOfferOptions)[] = [
  'id',
  'headers',
  'onDuplicate',
  'group',
  'maxWait',
  'expiresAfter',
  'onExpired',
  'attempts',
  'backoff',
];
const OPTIONS: readonly (keyof OfferOptions)[] = ['type', ...TYPED_OPTIONS];
const REQUEST: readonly (keyof OfferRequest)[] = ['payload', 'delay', 'at', ...OPTIONS];

/** Passes each message of a list to `take`, and returns the results. Adds the message's index to any error. */
export function readEach<T, R>(messages: readonly T[], take: (message: T, index: number) => R): R[] {
  if (!reading('messages', () => Array.isArray(messages))) {
    throw new DelayQueueError(
      'INVALID_ARGUMENT',
      'messages: must be an array; for another iterable, offer [...messages]',
    );
  }
  const taken: R[] = [];
  const length = reading('messages', () => messages.length);
  let i = 0;
  // One closure serves the whole list, instead of one for each message.
  const current = () => messages[i]!;
  // Loops by index, because forEach() would skip holes.
  for (; i < length; i++) {
    try {
      taken.push(take(reading('it', current), i));
    } catch (error) {
      throw ofMessage(i, error);
    }
  }
  return taken;
}

/** Adds the message's index to an error. */
export function ofMessage(index: number, error: unknown): unknown {
  if (!(error instanceof DelayQueueError)) return error;
  return new DelayQueueError(error.code, `messages[${index}]: ${error.message}`, { cause: error.cause });
}

/** Reads and checks one message of `offerMany`, each field once. */
export function readRequest(given: OfferRequest): NewMessage {
  const read = readFields<Partial<OfferRequest>>(given, 'it', REQUEST);
  return new NewMessage(read.payload, readEither(read.delay, read.at), checkOfferOptions(read));
}

/** Reads and checks an offer's options, each field once. */
export function readOfferOptions(given: OfferOptions | undefined): CheckedOfferOptions {
  return given === undefined ? NO_OPTIONS : checkOfferOptions(readFields(given, 'options', OPTIONS));
}

/** Like {@link readOfferOptions}, for an offer whose type is already known. */
export function readTypedOfferOptions(type: string, given: TypedOfferOptions | undefined): CheckedOfferOptions {
  if (given === undefined) return type === NO_TYPE ? NO_OPTIONS : { type };
  return { ...checkOfferOptions(readFields(given, 'options', TYPED_OPTIONS)), ...(type !== NO_TYPE && { type }) };
}

/** Returns the options with the attempts and backoff of the message's type, where it has none of its own. */
export function withRetries(options: CheckedOfferOptions, ofType: Retries | undefined): CheckedOfferOptions {
  if (!ofType) return options;
  return { ...options, special: { ...options.special, retries: { ...ofType, ...options.special?.retries } } };
}

export function checkOfferOptions({
  type,
  id,
  headers,
  onDuplicate,
  group,
  maxWait,
  expiresAfter,
  onExpired,
  attempts,
  backoff,
}: OfferOptions): CheckedOfferOptions {
  if (type !== undefined) assertMessageType(type);
  if (id !== undefined) assertMessageId(id);
  if (onDuplicate !== undefined && !ON_DUPLICATE.includes(onDuplicate)) {
    throw new DelayQueueError('INVALID_ARGUMENT', "onDuplicate must be 'keep', 'replace', 'reject' or 'follow'");
  }
  const checked = { type, id, headers: headers === undefined ? undefined : readHeaders(headers), onDuplicate };
  if (group !== undefined) assertGroup(group);
  const mayExpire = expiresAfter !== undefined || onExpired !== undefined;
  const hasRetries = attempts !== undefined || backoff !== undefined;
  if (!mayExpire && !hasRetries && maxWait === undefined && group === undefined && onDuplicate !== 'follow') {
    return checked;
  }
  const special = {
    group,
    maxWait: maxWait === undefined ? undefined : checkMaxWait(maxWait, checked),
    expiry: mayExpire ? readExpiry(expiresAfter, onExpired) : undefined,
    retries: hasRetries ? readRetries({ attempts, backoff }) : undefined,
  };
  return { ...checked, special };
}

function checkMaxWait(maxWait: Duration, { id, onDuplicate }: Pick<OfferOptions, 'id' | 'onDuplicate'>): number {
  if (id !== undefined && onDuplicate === 'replace') return readMaxWait(maxWait);
  throw new DelayQueueError('INVALID_ARGUMENT', "maxWait: goes with an id and onDuplicate: 'replace'");
}

/** Reads and checks headers. Reads each of them only once. */
export function readHeaders(given: MessageHeaders): MessageHeaders {
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
      throw wrongHeader(name, 'must be well-formed text, but contains an unpaired surrogate');
    }
  }
  return headers;
}

/** Copies headers field by field, because V8 converts such a copy to JSON faster than one made by `Object.fromEntries`. */
function copyOf(given: MessageHeaders): Record<string, string> {
  const copy: Record<string, string> = {};
  for (const name of Object.keys(given)) {
    const value = given[name]!;
    // Assigning to `__proto__` would set the prototype.
    if (name === '__proto__') Object.defineProperty(copy, name, { value, enumerable: true });
    else copy[name] = value;
  }
  return copy;
}

function wrongHeader(name: string, problem: string): DelayQueueError {
  return new DelayQueueError('INVALID_ARGUMENT', `headers[${showGiven(name)}] ${problem}`);
}
