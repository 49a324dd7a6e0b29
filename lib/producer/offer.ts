import { DelayQueueError } from '../delay-queue.errors.js';
import { type Duration, LONGEST_DELAY, parseDuration } from '../duration.js';
import { assertMessageId } from '../message-id.js';
import type { MessageHeaders } from '../message.js';
import type { DueTime, OnDuplicate } from '../store/message-store.js';

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

const LAST_INSTANT = Date.UTC(9999, 11, 31);
const ON_DUPLICATE: readonly unknown[] = ['keep', 'replace', 'reject'] satisfies OnDuplicate[];
const OPTIONS: readonly string[] = ['id', 'headers', 'onDuplicate'] satisfies (keyof OfferOptions)[];

/**
 * @throws DelayQueueError `INVALID_ARGUMENT`
 */
export function dueAfter(delay: Duration): DueTime {
  const parsed = parseDuration(delay, { min: 0, max: LONGEST_DELAY });
  if ('problem' in parsed) throw new DelayQueueError('INVALID_ARGUMENT', `delay ${parsed.problem}`);
  return { after: parsed.milliseconds };
}

/**
 * @throws DelayQueueError `INVALID_ARGUMENT`
 */
export function dueAt(date: Date): DueTime {
  const at = (date as unknown) instanceof Date ? date.getTime() : NaN;
  if (!(at >= 0 && at <= LAST_INSTANT)) {
    throw new DelayQueueError('INVALID_ARGUMENT', 'date must be a valid Date between 1970 and 9999');
  }
  return { at };
}

/**
 * @throws DelayQueueError `INVALID_ARGUMENT`
 */
export function assertOfferOptions(options: OfferOptions): void {
  const unknown = Object.keys(options).find((key) => !OPTIONS.includes(key));
  if (unknown)
    throw new DelayQueueError(
      'INVALID_ARGUMENT',
      `${unknown} is not an option of an offer; there are ${OPTIONS.join(', ')}`,
    );
  if (options.id !== undefined) assertMessageId(options.id);
  if (options.onDuplicate !== undefined && !ON_DUPLICATE.includes(options.onDuplicate)) {
    throw new DelayQueueError('INVALID_ARGUMENT', "onDuplicate must be 'keep', 'replace' or 'reject'");
  }
  if (options.headers !== undefined) assertHeaders(options.headers);
}

function assertHeaders(headers: unknown): asserts headers is MessageHeaders {
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) {
    throw new DelayQueueError('INVALID_ARGUMENT', 'headers must be an object of text values');
  }
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== 'string') {
      throw new DelayQueueError('INVALID_ARGUMENT', `headers.${name} must be text, not ${typeof value}`);
    }
  }
}
