import { type BodyRules, encodeBody } from '../codec/encode-body.js';
import { InvalidPayload } from '../definition/payload-check.js';
import type { Events } from '../events/events.js';
import { describeFailure, isInstance } from '../message/failure.js';
import { Again, again, RejectMessage } from '../message/handler-results.js';
import type { Outcome } from '../store/message-flow.js';
import { type Delivery, ShuttingDown } from './delivery.js';
import type { RetryPolicy } from './retry-policy.js';

export interface OutcomesOptions extends BodyRules {
  readonly events: Events;
  readonly attempts: number;
}

const ACK: Outcome = { kind: 'ack' };

/** Turns what handlers return and throw into outcomes, and reports failures. Whatever that is, nothing here throws. */
export class Outcomes {
  constructor(private readonly options: OutcomesOptions) {}

  /** A handler may return anything; only the result of `again()` has a meaning. */
  done(delivery: Delivery, retryPolicy: Pick<RetryPolicy, 'outcomeOf'>, result: unknown): Outcome {
    if (!isInstance(result, Again)) return ACK;
    try {
      return this.#again(delivery, result);
    } catch (error) {
      return this.failed(delivery, retryPolicy, error);
    }
  }

  failed(delivery: Delivery, retryPolicy: Pick<RetryPolicy, 'outcomeOf'>, error: unknown): Outcome {
    if (isInstance(error, InvalidPayload)) return this.unreadable(delivery, error);
    delivery.thrown = { error };
    const outcome = retryPolicy.outcomeOf(error, delivery.attempt);
    if (outcome.kind === 'defer') return outcome;
    // The handler ended because of the shutdown, so no attempt is spent.
    if (delivery.abortReason instanceof ShuttingDown && !isInstance(error, RejectMessage)) return { kind: 'release' };
    this.#report(delivery, outcome, error);
    return outcome;
  }

  /** No retry would make it readable. */
  unreadable(delivery: Delivery, error: unknown): Outcome {
    const { queue, id } = delivery;
    const failure = describeFailure(error);
    delivery.thrown = { error };
    this.options.events.emit('unreadable', { queue, id, failure });
    return { kind: 'dead', error: JSON.stringify(failure), by: 'unreadable' };
  }

  /**
   * @throws DelayQueueError `INVALID_ARGUMENT` if the handler changed the result of `again()`, `INVALID_PAYLOAD`,
   *   `PAYLOAD_TOO_LARGE`
   */
  #again({ type, headers }: Delivery, result: Again): Outcome {
    const { delay, payload } = again(result.delay, { payload: result.payload });
    if (payload === undefined) return { kind: 'again', delay };
    return { kind: 'again', delay, body: encodeBody(this.options, { type, payload, headers }) };
  }

  #report({ queue, id, type, attempt }: Delivery, outcome: Outcome, error: unknown): void {
    const { events, attempts } = this.options;
    const retryIn = outcome.kind === 'retry' ? { retryIn: outcome.delay } : {};
    events.emit('failed', { queue, id, type, attempt, attempts, failure: describeFailure(error), ...retryIn });
  }
}
