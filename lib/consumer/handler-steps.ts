import type { Around, HandlingOutcome } from '../message/delay-queue-observer.js';
import { completionOf, withinTimeout } from '../message/handler-results.js';
import { type CheckedPayload, InvalidPayload, type PayloadCheck } from '../message/payload-check.js';
import { follow } from '../message/failure.js';
import type { DelayedMessage } from '../message/message.js';
import type { Outcome } from '../store/consumer-store.js';
import type { Clock } from '../timing/clock.js';
import { type Delivery, slowHandler, slowObserver, slowSchema, timeOut } from './delivery.js';
import type { Handle } from './message-runner.js';
import { HANDLED, type HandlerRules, type Outcomes } from './outcomes.js';

/* The steps from a decoded message to its outcome, chosen when the queue opens. Without a schema or observers, there is only the call. */

export interface StepParts {
  readonly rules: HandlerRules;
  readonly outcomes: Outcomes;
  readonly clock: Clock;
}

/** Calls the handler. */
export function callStep(
  call: (payload: unknown, message: DelayedMessage) => unknown,
  { rules, outcomes, clock }: StepParts,
): Handle {
  const inTime = (delivery: Delivery, result: Promise<unknown>) => {
    const onTimeout = (timeout: number) => timeOut([delivery], slowHandler(timeout));
    return withinTimeout(result, { clock, timeout: rules.timeout, onTimeout });
  };
  return (delivery) => {
    try {
      const returned = call(delivery.payload, delivery.message);
      if (returned === undefined) return HANDLED;
      const result = completionOf(returned);
      if (!(result instanceof Promise)) return outcomes.returned(delivery, rules, result);
      return follow(rules.timeout === null ? result : inTime(delivery, result), {
        onDone: (value) => outcomes.returned(delivery, rules, value),
        onFailed: (error) => outcomes.threw(delivery, rules, error),
      }) as Promise<Outcome>;
    } catch (error) {
      return outcomes.threw(delivery, rules, error);
    }
  };
}

/** Checks the payload before the next step, and replaces it with the result of the check. */
export function checkStep(check: PayloadCheck, { rules, outcomes, clock }: StepParts, next: Handle): Handle {
  const nextWith = (checked: CheckedPayload, delivery: Delivery) => {
    if ('cause' in checked) return outcomes.threw(delivery, rules, checked.cause);
    if ('problem' in checked) return outcomes.invalid(delivery, new InvalidPayload(checked.problem));
    delivery.replacePayload(checked.value);
    return next(delivery);
  };
  return (delivery) => {
    const checked = check.stored(delivery.payload);
    if (!(checked instanceof Promise)) return nextWith(checked, delivery);
    const onTimeout = (timeout: number) => timeOut([delivery], slowSchema(timeout));
    return follow(withinTimeout(checked, { clock, timeout: rules.timeout, onTimeout }), {
      onDone: (known) => outcomes.afterWait(delivery) ?? nextWith(known as CheckedPayload, delivery),
      onFailed: (error) => outcomes.failed(delivery, rules, error),
    }) as Promise<Outcome>;
  };
}

/** Runs the next step inside the observers' hooks. */
export function observeStep(
  around: Around<DelayedMessage, never, HandlingOutcome>,
  { rules, outcomes }: StepParts,
  next: Handle,
): Handle {
  return (delivery) =>
    observed(around, delivery.message, {
      handle: () => outcomes.afterWait(delivery) ?? next(delivery),
      show: (outcome) => showOutcome(outcome, delivery),
      timeout: rules.timeout,
      onTimeout: (observer, passed) =>
        outcomes.failed(delivery, rules, timeOut([delivery], slowObserver(observer, passed))),
    });
}

/** Work that produces the outcome of a message, or the outcomes of a batch. */
interface ObservedWork<Result, Shown> {
  readonly handle: () => Result | Promise<Result>;
  /** Returns what observers see of the result. */
  readonly show: (result: Result) => Shown;
  /** How long each observer may delay the start of the work, ms; null: no limit. */
  readonly timeout: number | null;
  /** Returns the result to use if an observer takes too long. */
  readonly onTimeout: (observer: string, timeout: number) => Result;
}

/** Runs the work inside the observers' hooks. An observer can change the result only by delaying the start of the work beyond `timeout`. */
export function observed<Subject, Result, Shown>(
  around: Around<Subject, never, Shown>,
  subject: Subject,
  { handle, show, timeout, onTimeout }: ObservedWork<Result, Shown>,
): Result | Promise<Result> {
  let result: Result | Promise<Result>;
  const showKept = (given: Result | Promise<Result>) => {
    result = given;
    return given instanceof Promise ? given.then(show) : show(given);
  };
  const shown = around(subject, () => showKept(handle()), {
    timeout,
    onTimeout: (observer, passed) => showKept(onTimeout(observer, passed)),
  });
  return shown instanceof Promise ? shown.then(() => result) : result!;
}

export function showOutcome(outcome: Outcome, { thrown, isAborted }: Delivery): HandlingOutcome {
  if (isAborted) return { kind: 'aborted' };
  if ('lateBy' in outcome) return { kind: 'expired' };
  switch (outcome.kind) {
    case 'ack':
    case 'release':
      return { kind: outcome.kind };
    case 'again':
    case 'defer':
      return 'at' in outcome
        ? { kind: outcome.kind, at: new Date(outcome.at) }
        : { kind: outcome.kind, delay: outcome.delay };
    case 'retry':
      return { kind: 'retry', delay: outcome.delay, error: thrown?.error };
    case 'dead':
      return { kind: 'dead', error: thrown?.error };
  }
}
