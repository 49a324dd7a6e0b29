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

/** Runs the handler for one delivery, and turns what it does into an outcome. Never throws. */
export class MessageRunner {
  constructor(private readonly options: MessageRunnerOptions) {}

  async run(delivery: Delivery): Promise<Outcome> {
    try {
      await this.#callHandler(delivery);
      return { kind: 'ack' };
    } catch (error) {
      // It gave way to the shutdown: not its fault, so no attempt is spent.
      if (delivery.abortReason instanceof ShuttingDown && !(error instanceof RejectMessage)) {
        return { kind: 'defer', delay: error instanceof DeferMessage ? error.delay : 0 };
      }
      const outcome = this.options.retryPolicy.outcomeOf(error, delivery.attempt);
      this.#log(delivery, outcome, error);
      return outcome;
    }
  }

  #callHandler(delivery: Delivery): Promise<unknown> {
    const { timeout, clock } = this.options;
    const handled = this.#invoke(delivery);
    if (timeout === null) return handled;
    return new Promise((resolve, reject) => {
      const cancelTimer = clock.schedule(() => {
        const reason = new HandlerTimeout(`The handler took longer than its timeout of ${timeout} ms`);
        delivery.abort(reason);
        reject(reason);
      }, timeout);
      handled.then(resolve, reject).finally(cancelTimer);
    });
  }

  async #invoke(delivery: Delivery): Promise<void> {
    const result = this.options.handler.call(delivery.payload, delivery);
    if (isObservable(result)) await lastValueFrom(result, { defaultValue: undefined });
    else await result;
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
