import { type BodyRules, encodeBody, oversized } from '../message/codec/message-codec.js';
import { InvalidPayload, type PayloadCheck } from '../message/payload-check.js';
import type { Events } from '../events/events.js';
import { describeFailure, isInstance, traceOf } from '../message/failure.js';
import {
  Again,
  isDecision,
  isIterator,
  readComingAgain,
  RejectMessage,
  RetryMessage,
  UnusedIterator,
  withinTimeout,
} from '../message/handler-results.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import type { MessageFailure } from '../message/message.js';
import type { ConsumerStore, Outcome } from '../store/consumer-store.js';
import type { Clock } from '../timing/clock.js';
import { type Delivery, ShuttingDown, slowSchema, timeOut } from './delivery.js';
import type { RetryPolicy } from './retry-policy.js';

export interface HandlerRules {
  readonly check: PayloadCheck | undefined;
  readonly retryPolicy: Pick<RetryPolicy, 'outcomeOf'>;
  /** How long a handler or a check may take, ms; null: no limit. */
  readonly timeout: number | null;
}

export const HANDLED: Outcome = { kind: 'ack' };

/** The outcome of an unhandled message: it becomes ready again, with no attempt spent. */
export const RELEASE: Outcome = { kind: 'release' };

/** Turns what handlers return or throw into outcomes, and reports failures. Never throws. */
export class Outcomes {
  constructor(
    private readonly options: BodyRules & {
      readonly events: Events;
      readonly clock: Clock;
      readonly attempts: number;
      /** Asks whether the store accepts a body; undefined if it accepts every body. */
      readonly accepts?: ConsumerStore['accepts'];
    },
  ) {}

  /**
   * Returns the outcome of a handler that has returned. A result is ignored unless it could also be thrown; an iterator is a failure,
   * because the handler has not run. If a new payload is checked asynchronously, returns a promise, which never rejects.
   */
  returned(delivery: Delivery, rules: HandlerRules, result: unknown): Outcome | Promise<Outcome> {
    if (isDecision(result)) return this.threw(delivery, rules, result);
    return isIterator(result) ? this.failed(delivery, rules, new UnusedIterator('The handler')) : HANDLED;
  }

  /** Returns the outcome of a handler that threw. If a new payload is checked asynchronously, returns a promise, which never rejects. */
  threw(delivery: Delivery, rules: HandlerRules, thrown: unknown): Outcome | Promise<Outcome> {
    if (!isInstance(thrown, Again)) return this.failed(delivery, rules, thrown);
    try {
      const outcome = this.#again(delivery, rules, thrown);
      if (!(outcome instanceof Promise)) return outcome;
      return outcome.catch((error: unknown) => this.failed(delivery, rules, error));
    } catch (error) {
      return this.failed(delivery, rules, error);
    }
  }

  /** Fails the attempt, even if the error is an `again()` result thrown by a new payload's schema. */
  failed(delivery: Delivery, { retryPolicy }: Pick<HandlerRules, 'retryPolicy'>, error: unknown): Outcome {
    if (isInstance(error, InvalidPayload)) return this.invalid(delivery, error);
    delivery.thrown = { error };
    const outcome = retryPolicy.outcomeOf(error, delivery.attempt, delivery.terms?.own.retries);
    if (outcome.kind === 'defer') return outcome;
    // The handler ended because of the shutdown, not by its own decision, so no attempt is spent.
    if (
      delivery.abortReason instanceof ShuttingDown &&
      !isInstance(error, RejectMessage) &&
      !isInstance(error, RetryMessage)
    ) {
      return RELEASE;
    }
    // The message is gone, so nothing has failed.
    if (delivery.isAborted) return RELEASE;
    this.#report(delivery, outcome, error);
    return outcome;
  }

  /** Refuses an unreadable body, as a retry would not help. `maxDeadLetters` never drops dead letters with the error `UnreadableBody`. */
  unreadable(delivery: Delivery, error: unknown): Outcome {
    return this.#refuse(delivery, error, { ...describeFailure(error), name: 'UnreadableBody' });
  }

  invalid(delivery: Delivery, error: InvalidPayload): Outcome {
    return this.#refuse(delivery, error, describeFailure(error));
  }

  /** Returns an outcome if a message must not proceed after a wait, because its lease may have ended or it has expired. */
  afterWait(delivery: Delivery): Outcome | undefined {
    return delivery.mayStart(this.options.clock.monotonic()) ? delivery.terms?.outcomeWithoutHandler() : RELEASE;
  }

  #refuse(delivery: Delivery, error: unknown, failure: MessageFailure): Outcome {
    delivery.thrown = { error };
    return { kind: 'dead', error: JSON.stringify(failure), by: 'unreadable' };
  }

  /** Throws `INVALID_PAYLOAD` or `PAYLOAD_TOO_LARGE`, or `INVALID_ARGUMENT` if the handler has changed the `again()` result. */
  #again(delivery: Delivery, { check, timeout }: HandlerRules, result: Again): Outcome | Promise<Outcome> {
    const { queue, type, headers, group, terms } = delivery;
    const { codec, clock } = this.options;
    const { payload } = result;
    const due = readComingAgain(result);
    if (payload === undefined) return { kind: 'again', ...due };
    const body = encodeBody(this.options, { type, payload, headers, group, ...terms?.own });
    const outcome: Outcome = { kind: 'again', ...due, body };
    const checked = check?.encoded({ queue, type, body, codec });
    const onTimeout = (passed: number) => timeOut([delivery], slowSchema(passed));
    const valid = checked && withinTimeout(checked, { clock, timeout, onTimeout });
    const accepted = this.options.accepts?.(body)?.then((accepts) => {
      if (!accepts) throw new DelayQueueError('PAYLOAD_TOO_LARGE', oversized(body));
    });
    return valid || accepted ? Promise.all([valid, accepted]).then(() => outcome) : outcome;
  }

  #report({ queue, id, type, attempt, terms }: Delivery, outcome: Outcome, error: unknown): void {
    const { events, attempts: ofQueue } = this.options;
    const attempts = terms?.own.retries?.attempts ?? ofQueue;
    const failed = { queue, id, type, attempt, attempts, failure: describeFailure(error) };
    if (outcome.kind === 'retry') events.emit('failed', { ...failed, retryIn: outcome.delay });
    else events.emit('failed', { ...failed, trace: traceOf(error) });
  }
}
