import type { Events } from '../events/events.js';
import type { Clock } from '../timing/clock.js';
import { DelayQueueError } from '../message/delay-queue.errors.js';
import type { HandlerInvoker } from '../handler/handler.invoker.js';
import { Again, again, RejectMessage } from '../message/handler-results.js';
import { type BodyRules, encodeBody } from '../codec/encode-body.js';
import type { Outcome } from '../store/message-flow.js';
import { type Delivery, HandlerTimeout, ShuttingDown } from './delivery.js';
import { describeFailure, follow, isInstance, isStrayPromise } from '../message/failure.js';
import type { RetryPolicy } from './retry-policy.js';

export interface MessageRunnerOptions extends BodyRules {
  readonly invoker: HandlerInvoker;
  readonly retryPolicy: RetryPolicy;
  readonly clock: Clock;
  readonly events: Events;
  readonly attempts: number;
  /** How long a handler may run, ms; null: no limit. */
  readonly timeout: number | null;
}

const ACK: Outcome = { kind: 'ack' };

/**
 * Decodes a delivery, runs its handler, and turns the result into an outcome. Only this class and the retry policy call the
 * application's code. Whatever that code does, this class neither throws nor rejects.
 */
export class MessageRunner {
  constructor(private readonly options: MessageRunnerOptions) {}

  /**
   * Handles one delivery.
   *
   * @returns the outcome itself if the handler is done when it returns: a promise for each message would be costly
   */
  run(delivery: Delivery): Outcome | Promise<Outcome> {
    try {
      this.#open(delivery);
    } catch (error) {
      return this.#unreadable(delivery, error);
    }
    try {
      const result = this.options.invoker.invoke(delivery);
      if (!(result instanceof Promise)) return this.#done(delivery, result);
      return follow(this.#withinTimeout(delivery, result), {
        onDone: (value) => this.#done(delivery, value),
        onFailed: (error) => this.#failed(delivery, error),
      });
    } catch (error) {
      return this.#failed(delivery, error);
    }
  }

  #open(delivery: Delivery): void {
    delivery.open(this.options.codec);
    if (isStrayPromise(delivery.payload)) {
      throw new DelayQueueError(
        'INVALID_PAYLOAD',
        "body: the queue's codec decodes to a promise; make it return the payload itself",
      );
    }
  }

  #unreadable({ queue, id }: Delivery, error: unknown): Outcome {
    const failure = describeFailure(error);
    this.options.events.emit('unreadable', { queue, id, failure });
    return { kind: 'dead', error: JSON.stringify(failure) };
  }

  #withinTimeout(delivery: Delivery, completion: Promise<unknown>): Promise<unknown> {
    const { timeout, clock } = this.options;
    if (timeout === null) return completion;
    return new Promise<unknown>((resolve, reject) => {
      const cancelTimer = clock.schedule(() => {
        const reason = new HandlerTimeout(`The handler took longer than its timeout of ${timeout} ms`);
        reject(reason);
        delivery.abort(reason);
      }, timeout);
      void follow(completion, { onDone: resolve, onFailed: reject }).finally(cancelTimer);
    });
  }

  /** A handler may return anything; only the result of `again()` has a meaning. */
  #done(delivery: Delivery, result: unknown): Outcome {
    if (!isInstance(result, Again)) return ACK;
    try {
      return this.#again(delivery, result);
    } catch (error) {
      return this.#failed(delivery, error);
    }
  }

  /**
   * @throws DelayQueueError `INVALID_ARGUMENT` if the handler changed the result of `again()`, `INVALID_PAYLOAD`,
   *   `PAYLOAD_TOO_LARGE`
   */
  #again({ headers }: Delivery, result: Again): Outcome {
    const { delay, payload } = again(result.delay, { payload: result.payload });
    if (payload === undefined) return { kind: 'again', delay };
    return { kind: 'again', delay, body: encodeBody(this.options, { payload, headers }) };
  }

  #failed(delivery: Delivery, error: unknown): Outcome {
    const outcome = this.options.retryPolicy.outcomeOf(error, delivery.attempt);
    if (outcome.kind === 'defer') return outcome;
    // The handler ended because of the shutdown, so no attempt is spent.
    if (delivery.abortReason instanceof ShuttingDown && !isInstance(error, RejectMessage)) return { kind: 'release' };
    this.#tell(delivery, outcome, error);
    return outcome;
  }

  #tell({ queue, id, attempt }: Delivery, outcome: Outcome, error: unknown): void {
    const { events, attempts } = this.options;
    const retryIn = outcome.kind === 'retry' ? { retryIn: outcome.delay } : {};
    events.emit('failed', { queue, id, attempt, attempts, failure: describeFailure(error), ...retryIn });
  }
}
