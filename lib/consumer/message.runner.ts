import type { Events } from '../events/events.js';
import type { Clock } from '../timing/clock.js';
import { type CheckedPayload, InvalidPayload, type PayloadCheck } from '../definition/payload-check.js';
import { DelayQueueError } from '../message/delay-queue.errors.js';
import type { HandlerInvoker } from '../handler/handler.invoker.js';
import { Again, again, RejectMessage } from '../message/handler-results.js';
import { type BodyRules, encodeBody } from '../codec/encode-body.js';
import type { Outcome } from '../store/message-flow.js';
import { type Delivery, HandlerTimeout, ShuttingDown } from './delivery.js';
import { describeFailure, follow, isInstance, isStrayPromise } from '../message/failure.js';
import { UnknownBodyForm } from '../codec/unknown-body-form.js';
import { NO_TYPE } from '../message/message-type.js';
import type { RetryPolicy } from './retry-policy.js';
import type { UnknownTypes } from './unknown-types.js';

/** Where the messages of a type go. */
export interface Route {
  readonly check: PayloadCheck | undefined;
  readonly invoker: HandlerInvoker;
  readonly retryPolicy: RetryPolicy;
  /** How long a handler may run, ms; null: no limit. */
  readonly timeout: number | null;
}

export interface MessageRunnerOptions extends BodyRules {
  /** By type; empty: the route of every other type. */
  readonly routes: ReadonlyMap<string, Route>;
  readonly unknownTypes: UnknownTypes;
  readonly clock: Clock;
  readonly events: Events;
  readonly attempts: number;
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
    const body = delivery.takeBody();
    try {
      this.#open(delivery, body);
    } catch (error) {
      if (isInstance(error, UnknownBodyForm)) return this.options.unknownTypes.unknownForm(delivery, body, error);
      return this.#unreadable(delivery, error);
    }
    const route = this.#routeOf(delivery.type);
    return route ? this.#handle(delivery, route) : this.options.unknownTypes.noHandler(delivery, body);
  }

  /** The one place that decides which handler gets a message. */
  #routeOf(type: string): Route | undefined {
    return this.options.routes.get(type) ?? this.options.routes.get(NO_TYPE);
  }

  #handle(delivery: Delivery, route: Route): Outcome | Promise<Outcome> {
    try {
      const { check, invoker } = route;
      const result = check ? this.#invokeChecked(delivery, route, check(delivery.payload)) : invoker.invoke(delivery);
      if (!(result instanceof Promise)) return this.#done(delivery, route, result);
      return follow(this.#withinTimeout(delivery, route, result), {
        onDone: (value) => this.#done(delivery, route, value),
        onFailed: (error) => this.#failed(delivery, route, error),
      });
    } catch (error) {
      return this.#failed(delivery, route, error);
    }
  }

  /** @throws InvalidPayload, what the schema throws, what the handler throws */
  #invokeChecked(delivery: Delivery, route: Route, checked: CheckedPayload | Promise<CheckedPayload>): unknown {
    if (checked instanceof Promise) return checked.then((known) => this.#invokeChecked(delivery, route, known));
    if ('cause' in checked) throw checked.cause;
    if ('problem' in checked) throw new InvalidPayload(checked.problem);
    delivery.payload = checked.value;
    return route.invoker.invoke(delivery);
  }

  #open(delivery: Delivery, body: Buffer): void {
    delivery.open(this.options.codec.decode(body));
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

  #withinTimeout(delivery: Delivery, { timeout }: Route, completion: Promise<unknown>): Promise<unknown> {
    const { clock } = this.options;
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
  #done(delivery: Delivery, route: Route, result: unknown): Outcome {
    if (!isInstance(result, Again)) return ACK;
    try {
      return this.#again(delivery, result);
    } catch (error) {
      return this.#failed(delivery, route, error);
    }
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

  #failed(delivery: Delivery, { retryPolicy }: Route, error: unknown): Outcome {
    if (isInstance(error, InvalidPayload)) return this.#unreadable(delivery, error);
    const outcome = retryPolicy.outcomeOf(error, delivery.attempt);
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
