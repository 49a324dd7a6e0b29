import { againWatch } from './again-watch.js';
import { showFailure } from './failure.js';
import { type CheckedDuration, type Duration, readDelay } from './duration.js';
import { readFields } from './read-fields.js';

/**
 * Thrown by a handler to make the message a dead letter at once, no matter how many attempts it has left.
 *
 * @example
 * ```ts
 * if (!order) throw new RejectMessage(`order ${orderId} does not exist`);
 * ```
 */
export class RejectMessage extends Error {
  /** The error's name in logs. */
  override readonly name = 'RejectMessage';

  /**
   * @param reason - becomes the dead letter's error message. Anything but text is converted to text: a rejection must not fail.
   * @param options - `cause`: the underlying error
   */
  constructor(reason: string, options?: ErrorOptions) {
    super(typeof reason === 'string' ? reason : showFailure(reason), options);
  }
}

/**
 * Thrown by a handler to get the message again after a delay, with no attempt spent.
 *
 * @example
 * ```ts
 * if (!shopIsOpen()) throw new DeferMessage('15m');
 * ```
 *
 * @typeParam Delay - the type of the delay
 */
export class DeferMessage<const Delay extends Duration = Duration> extends Error {
  /** The error's name in logs. */
  override readonly name = 'DeferMessage';
  /** Milliseconds until the message is due again. */
  readonly delay: number;

  /**
   * @param delay - 0 ms – 100 years, by the clock of Redis
   * @throws DelayQueueError `INVALID_ARGUMENT`
   */
  constructor(delay: CheckedDuration<Delay>) {
    const milliseconds = readDelay(delay);
    super(`deferred by ${delay}`);
    this.delay = milliseconds;
  }
}

/** Options of {@link again}. */
export interface AgainOptions<T = unknown> {
  /** The new payload: JSON values or a `Buffer`. Default: the payload stays the same. */
  readonly payload?: T | undefined;
}

const AGAIN_OPTIONS: readonly (keyof AgainOptions)[] = ['payload'];

/** The result of {@link again}, for a handler to return. */
export class Again {
  /** @internal */
  constructor(
    /** Milliseconds until the message is due again. */
    readonly delay: number,
    /** The new payload; undefined: it stays the same. */
    readonly payload: unknown,
  ) {}
}

/**
 * Returned by a handler to settle the message and make it due again after a delay, in one step. The message keeps its id and
 * headers and gets all its attempts back. A crash can neither break such a chain nor duplicate it; `cancel` with its id ends it.
 *
 * @param delay - 0 ms – 100 years, by the clock of Redis
 * @param options - `payload`: the new payload. Default: the payload stays the same
 * @returns the value that the handler must return
 * @throws DelayQueueError `INVALID_ARGUMENT`. A payload that cannot be stored, or that the schema of the queue refuses, fails
 *   the attempt once the handler returns it.
 *
 * @example
 * ```ts
 * if (order?.paid) return;
 * await remind(order);
 * return again('1d');
 * ```
 */
export function again<const Delay extends Duration = Duration>(
  delay: CheckedDuration<Delay>,
  options: AgainOptions = {},
): Again {
  const result = readAgain(delay, options);
  againWatch.called(again);
  return result;
}

/** @throws DelayQueueError `INVALID_ARGUMENT` */
export function readAgain(delay: Duration, options: AgainOptions): Again {
  const { payload } = readFields(options, 'options', AGAIN_OPTIONS);
  return new Again(readDelay(delay), payload);
}
