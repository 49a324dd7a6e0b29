import type { Logger } from '@nestjs/common';
import { isObservable, lastValueFrom } from 'rxjs';
import type { Clock } from '../clock.js';
import type { DelayedMessageHandler } from '../handler/handler.registry.js';
import { DeferMessage, RejectMessage } from '../handler/handler-results.js';
import type { Outcome } from '../store/message-store.js';
import { type Delivery, HandlerTimeout, ShuttingDown } from './delivery.js';
import { describeFailure, type RetryPolicy } from './retry-policy.js';

export interface MessageRunnerOptions {
  readonly handler: DelayedMessageHandler;
  readonly retryPolicy: RetryPolicy;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly attempts: number;
  /** How long a handler may run, ms; null: without bound. */
  readonly timeout: number | null;
}

const ACK: Outcome = { kind: 'ack' };

/** Runs the handler for one delivery, and turns what it does into an outcome. Neither throws nor rejects. */
export class MessageRunner {
  constructor(private readonly options: MessageRunnerOptions) {}

  /** @returns the outcome at once if the handler is done when it returns: a promise for each message would cost */
  run(delivery: Delivery): Outcome | Promise<Outcome> {
    try {
      const completion = completionOf(this.options.handler.call(delivery.payload, delivery));
      if (!completion) return ACK;
      return this.#withinTimeout(delivery, completion).then(
        () => ACK,
        (error: unknown) => this.#failed(delivery, error),
      );
    } catch (error) {
      return this.#failed(delivery, error);
    }
  }

  #withinTimeout(delivery: Delivery, completion: PromiseLike<unknown>): Promise<unknown> {
    const { timeout, clock } = this.options;
    if (timeout === null) return Promise.resolve(completion);
    return new Promise((resolve, reject) => {
      const cancelTimer = clock.schedule(() => {
        const reason = new HandlerTimeout(`The handler took longer than its timeout of ${timeout} ms`);
        delivery.abort(reason);
        reject(reason);
      }, timeout);
      Promise.resolve(completion).then(resolve, reject).finally(cancelTimer);
    });
  }

  #failed(delivery: Delivery, error: unknown): Outcome {
    // It gave way to the shutdown: not its fault, so no attempt is spent.
    if (delivery.abortReason instanceof ShuttingDown && !(error instanceof RejectMessage)) {
      return { kind: 'defer', delay: error instanceof DeferMessage ? error.delay : 0 };
    }
    const outcome = this.options.retryPolicy.outcomeOf(error, delivery.attempt);
    this.#log(delivery, outcome, error);
    return outcome;
  }

  #log({ queue, id, attempt }: Delivery, outcome: Outcome, error: unknown): void {
    const { logger, attempts } = this.options;
    const { name, message, stack } = describeFailure(error);
    const failure = `${name}: ${message}`;
    if (outcome.kind === 'retry') {
      logger.warn(
        `${queue}: message ${id} failed (attempt ${attempt} of ${attempts}), again in ${outcome.delay} ms: ${failure}`,
      );
    } else if (outcome.kind === 'dead') {
      logger.error(`${queue}: message ${id} is a dead letter after attempt ${attempt}: ${failure}`, stack);
    }
  }
}

/** Of what a handler returned, the end; undefined if there is nothing to wait for. */
function completionOf(result: unknown): PromiseLike<unknown> | undefined {
  if (isObservable(result)) return lastValueFrom(result, { defaultValue: undefined });
  return isPromiseLike(result) ? result : undefined;
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function';
}
