import type { HandlingOutcome } from '../events/delay-queue-observer.js';
import type { Around } from '../events/observers.js';
import type { Outcome } from '../store/consumer-store.js';
import type { Delivery } from './delivery.js';

/** Work that leads to the outcome of a message, or to those of a batch. */
export interface ObservedWork<Result, Shown> {
  readonly handle: () => Result | Promise<Result>;
  /** Gives what observers see of the result. */
  readonly show: (result: Result) => Shown;
  /** How long each observer may take to let it begin, ms; null: no limit. */
  readonly timeout: number | null;
  /** Gives the result if an observer takes longer, from its name. */
  readonly onTimeout: (observer: string, timeout: number) => Result;
}

/** Works inside the hooks of the observers. The result is what it would be without them, if they let it begin in time. */
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

/** An outcome as observers see it. */
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
