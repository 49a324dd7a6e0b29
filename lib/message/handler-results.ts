import { recognizeAcrossCopies } from './delay-queue-errors.js';
import { againWatch } from './again-watch.js';
import { follow, isInstance, isThenable, showFailure } from './failure.js';
import { type CheckedDue, type CheckedDuration, type Duration, readDelay, readDue, readEither } from './duration.js';
import { readFields } from './read-fields.js';
import { isObservable, lastValueFrom } from 'rxjs';

/**
 * Thrown or returned by a handler to make the message a dead letter at once, however many attempts are left.
 * @example
 * ```ts
 * if (!order) throw new RejectMessage(`order ${orderId} does not exist`);
 * ```
 */
export class RejectMessage extends Error {
  /** The error's name in logs. */
  override readonly name = 'RejectMessage';

  /**
   * @param reason - becomes the dead letter's error message. A value that is not a string is converted, because rejecting a message must
   * not itself fail.
   * @param options - `cause`: the underlying error
   */
  constructor(reason: string, options?: ErrorOptions) {
    super(typeof reason === 'string' ? reason : showFailure(reason), options);
  }
}

/**
 * Thrown or returned by a handler to get the message again after a delay or at a given time, without spending an attempt.
 *
 * @example
 * ```ts
 * if (!shopIsOpen()) throw new DeferMessage('15m');
 * if (isHoliday(today)) throw new DeferMessage(nextWorkday(today));
 * ```
 * @typeParam Due - the type of the delay or the date
 */
export class DeferMessage<const Due extends Duration | Date = Duration | Date> extends Error {
  /** The error's name in logs. */
  override readonly name = 'DeferMessage';
  /** The time until the message is due again, ms; undefined if a date was given. */
  readonly delay: number | undefined;
  /** When the message is due again; undefined if a delay was given. */
  readonly at: Date | undefined;

  /**
   * @param due - a delay of 0 ms – 100 years, or a `Date` between 1970 and 9999; by Redis' clock
   * @throws DelayQueueError `INVALID_ARGUMENT`
   */
  constructor(due: CheckedDue<Due>) {
    const read = readDue(due);
    const at = 'at' in read ? new Date(read.at) : undefined;
    super(at ? `deferred until ${at.toISOString()}` : `deferred by ${String(due)}`);
    this.delay = 'after' in read ? read.after : undefined;
    this.at = at;
  }
}

/**
 * Thrown or returned by a handler to have the message retried after this delay instead of the backoff. An attempt is spent; after the last
 * one, the message becomes a dead letter, as after any other failure.
 *
 * @example
 * ```ts
 * const { status, headers } = await charge(orderId);
 * if (status === 429) throw new RetryMessage(`${headers.get('retry-after') ?? 60}s`);
 * ```
 * @typeParam Delay - the type of the delay
 */
export class RetryMessage<const Delay extends Duration = Duration> extends Error {
  /** The error's name in logs. */
  override readonly name = 'RetryMessage';
  /** The time until the next attempt, ms. */
  readonly delay: number;

  /**
   * @param delay - 0 ms – 100 years
   * @param options - `cause`: the underlying error, which the dead letter shows after the last attempt
   * @throws DelayQueueError `INVALID_ARGUMENT`
   */
  constructor(delay: CheckedDuration<Delay>, options?: ErrorOptions) {
    const read = readDelay(delay);
    super(`to be retried after ${String(delay)}`, options);
    this.delay = read;
  }
}

/** The result of {@link again}, for a handler to return or throw. */
export class Again {
  /** @internal */
  constructor(
    /** The time until the message is due again, ms; undefined if a date was given. */
    readonly delay: number | undefined,
    /** When the message is due again; undefined if a delay was given. */
    readonly at: Date | undefined,
    /** The new payload; undefined if it stays the same. */
    readonly payload: unknown,
  ) {}
}

/**
 * Settles the message and makes it due again after a delay or at a given time, in one step, once its handler returns or throws the result.
 * The message keeps its id and headers and regains all attempts. A crash can neither break such a chain nor duplicate it; `cancel` ends it.
 * @param due - a delay of 0 ms – 100 years, or a `Date` between 1970 and 9999; by Redis' clock
 * @returns the value that the handler must return or throw
 * @throws DelayQueueError `INVALID_ARGUMENT`. A payload that cannot be stored, or that the queue's schema refuses, fails the attempt only
 *   when the handler returns the value.
 * @example
 * ```ts
 * if (order?.paid) return;
 * await remind(order);
 * return again('1d');
 * ```
 */
export function again<const Due extends Duration | Date = Duration | Date>(
  due: CheckedDue<Due>,
  options: {
    /** The new payload: JSON values or a `Buffer`. Default: the payload stays the same. */
    readonly payload?: unknown;
  } = {},
): Again {
  const { payload } = readFields(options, 'options', ['payload']);
  const read = readDue(due);
  const result =
    'at' in read ? new Again(undefined, new Date(read.at), payload) : new Again(read.after, undefined, payload);
  againWatch.called(again);
  return result;
}

recognizeAcrossCopies(RejectMessage, 'RejectMessage');
recognizeAcrossCopies(DeferMessage, 'DeferMessage');
recognizeAcrossCopies(RetryMessage, 'RetryMessage');
recognizeAcrossCopies(Again, 'Again');

/** True for a value with which a handler decides what becomes of its message. */
export function isDecision(value: unknown): value is Again | DeferMessage | RejectMessage | RetryMessage {
  // Checked first, because most handlers return nothing.
  if (typeof value !== 'object' || value === null) return false;
  return (
    isInstance(value, Again) ||
    isInstance(value, DeferMessage) ||
    isInstance(value, RejectMessage) ||
    isInstance(value, RetryMessage)
  );
}

export type ComingAgain = { readonly delay: number } | { readonly at: number };

/** Reads the due time from a result of {@link again} or a `DeferMessage`, which handlers may have modified; throws `INVALID_ARGUMENT`. */
export function readComingAgain(given: Pick<Again, 'delay' | 'at'>): ComingAgain {
  const due = readEither(given.delay, given.at);
  return 'at' in due ? due : { delay: due.after };
}

/** Thrown if an application's function returned an iterator, whose code has not run, because nothing iterates it. */
export class UnusedIterator extends Error {
  override readonly name = 'UnusedIterator';

  /** @param returnedBy - such as 'the handler' */
  constructor(returnedBy: string) {
    super(
      `${returnedBy} has returned an iterator, whose code has not run, because nothing iterates it: iterate it first, or write an ` +
        'ordinary or async method instead of a generator (*)',
    );
  }
}

/** True if a value is an iterator, which does nothing until iterated: a generator, even one compiled to a plain function, or another. */
export function isIterator(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  try {
    const { next } = value as { readonly next?: unknown };
    return typeof next === 'function' && (Symbol.iterator in value || Symbol.asyncIterator in value);
  } catch {
    return false;
  }
}

/**
 * Returns a promise that resolves when a handler's result is complete. If there is nothing to wait for, returns the result itself, because
 * a promise for each message is costly. An Observable completes with its last value, if any. Throws what inspecting the result throws.
 */
export function completionOf(result: unknown): unknown {
  const completion = isObservable(result) ? lastValueFrom(result, { defaultValue: undefined }) : result;
  // A thenable may settle several times, or throw; a promise does neither.
  return isThenable(completion) ? Promise.resolve(completion) : completion;
}

interface TimeLimit {
  /** Runs the task once after `delay` ms; the returned function cancels it. */
  readonly clock: { schedule(task: () => void, delay: number): () => void };
  /** The limit, ms; null for none. */
  readonly timeout: number | null;
  /** Makes the rejection's error. Must not throw. */
  readonly onTimeout: (timeout: number) => Error;
}

/** Settles as the given promise does, but rejects if that takes too long. For promises from application code. */
export function withinTimeout(
  completion: Promise<unknown>,
  { clock, timeout, onTimeout }: TimeLimit,
): Promise<unknown> {
  if (timeout === null) return completion;
  return new Promise<unknown>((resolve, reject) => {
    const cancelTimer = clock.schedule(() => reject(onTimeout(timeout)), timeout);
    void follow(completion, { onDone: resolve, onFailed: reject }).finally(cancelTimer);
  });
}
