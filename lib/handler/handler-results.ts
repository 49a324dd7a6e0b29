import { DelayQueueError } from '../delay-queue.errors.js';
import { type Duration, LONGEST_DELAY, parseDuration } from '../duration.js';

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

  /** @param reason - becomes the dead letter's error message */
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
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
    const parsed = parseDuration(delay, { min: 0, max: LONGEST_DELAY });
    if ('problem' in parsed) throw new DelayQueueError('INVALID_ARGUMENT', `delay ${parsed.problem}`);
    super(`deferred by ${delay}`);
    this.delay = parsed.milliseconds;
  }
}
