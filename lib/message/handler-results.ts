import { showFailure } from './failure.js';
import { type Duration, readDelay } from './duration.js';
import { readFields } from './read-fields.js';

/**
 * Thrown by a handler: the message becomes a dead letter at once, whatever attempts it has left.
 *
 * @example
 * ```ts
 * if (!order) throw new RejectMessage(`order ${orderId} does not exist`);
 * ```
 */
export class RejectMessage extends Error {
  /** For logs. */
  override readonly name = 'RejectMessage';

  /**
   * @param reason - becomes the dead letter's error message. What is no text is shown as one: a rejection must not fail.
   */
  constructor(reason: string, options?: ErrorOptions) {
    super(typeof reason === 'string' ? reason : showFailure(reason), options);
  }
}

/**
 * Thrown by a handler: the message comes again after a delay, and no attempt is spent.
 *
 * @example
 * ```ts
 * if (!shopIsOpen()) throw new DeferMessage('15m');
 * ```
 */
export class DeferMessage extends Error {
  /** For logs. */
  override readonly name = 'DeferMessage';
  /** Milliseconds until the message is due again. */
  readonly delay: number;

  /**
   * @param delay - 0 ms – 100 years
   * @throws DelayQueueError `INVALID_ARGUMENT`
   */
  constructor(delay: Duration) {
    const milliseconds = readDelay(delay);
    super(`deferred by ${delay}`);
    this.delay = milliseconds;
  }
}

/** What can be said about a message that comes again besides its delay. */
export interface AgainOptions<T = unknown> {
  /** JSON values or a `Buffer`. Default: the payload it had. */
  readonly payload?: T;
}

const AGAIN_OPTIONS: readonly (keyof AgainOptions)[] = ['payload'];

/** What {@link again} makes, for a handler to return. */
export class Again {
  /** @internal */
  constructor(
    /** Milliseconds until the message is due again. */
    readonly delay: number,
    /** Its payload from then on; undefined: the one it had. */
    readonly payload: unknown,
  ) {}
}

/**
 * Returned by a handler: the message is handled, and due again after a delay, in one step. It keeps its id and gets all of its
 * attempts back, so a crash can neither break such a chain nor double it, and `cancel` by the id ends it.
 *
 * @param delay - 0 ms – 100 years, by the clock of Redis
 * @param options - `payload`: what it carries from then on. Default: the payload it had. Its headers stay
 * @throws DelayQueueError `INVALID_ARGUMENT`. A payload that cannot be stored fails the attempt once the handler returns it.
 *
 * @example
 * ```ts
 * if (order?.paid) return;
 * await remind(order);
 * return again('1d');
 * ```
 */
export function again(delay: Duration, options: AgainOptions = {}): Again {
  const { payload } = readFields(options, 'options', AGAIN_OPTIONS);
  return new Again(readDelay(delay), payload);
}
