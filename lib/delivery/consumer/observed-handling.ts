import type { HandlingOutcome } from '../../events/delay-queue-observer.js';
import type { Observers } from '../../events/observers.js';
import type { Outcome } from '../../store/message-flow.js';
import type { Delivery } from './delivery.js';

/** What observers are around. */
export interface ObservedWork<Result> {
  readonly handle: () => Result | Promise<Result>;
  /** How long each observer may take to let it begin, ms; null: no limit. */
  readonly timeout: number | null;
  /** Gives the outcome if an observer takes longer, from its name. */
  readonly onTimeout: (observer: string, timeout: number) => Result;
}

/** Handles a message inside the hooks of the observers. Its outcome is what it would be without them, if they let it begin in time. */
export function observed(
  around: NonNullable<Observers['handle']>,
  delivery: Delivery,
  { handle, timeout, onTimeout }: ObservedWork<Outcome>,
): Outcome | Promise<Outcome> {
  let outcome: Outcome | Promise<Outcome>;
  const showKept = (given: Outcome | Promise<Outcome>) => {
    outcome = given;
    return given instanceof Promise ? given.then((known) => show(known, delivery)) : show(given, delivery);
  };
  const shown = around(delivery, () => showKept(handle()), {
    timeout,
    onTimeout: (observer, passed) => showKept(onTimeout(observer, passed)),
  });
  return shown instanceof Promise ? shown.then(() => outcome) : outcome!;
}

/** An outcome for each message of a batch; a promise, if the schema of a new payload takes its time. */
export type BatchOutcomes = readonly (Outcome | Promise<Outcome>)[];

/** As {@link observed}, of one call with many messages. */
export function observedBatch(
  around: NonNullable<Observers['handleBatch']>,
  deliveries: readonly Delivery[],
  { handle, timeout, onTimeout }: ObservedWork<BatchOutcomes>,
): BatchOutcomes | Promise<BatchOutcomes> {
  let outcomes: readonly Outcome[] | Promise<readonly Outcome[]>;
  const showAll = (known: readonly Outcome[]) => known.map((outcome, i) => show(outcome, deliveries[i]!));
  const showKept = (given: BatchOutcomes | Promise<BatchOutcomes>) => {
    outcomes = allOf(given);
    return outcomes instanceof Promise ? outcomes.then(showAll) : showAll(outcomes);
  };
  const shown = around(deliveries, () => showKept(handle()), {
    timeout,
    onTimeout: (observer, passed) => showKept(onTimeout(observer, passed)),
  });
  return shown instanceof Promise ? shown.then(() => outcomes) : outcomes!;
}

function allOf(given: BatchOutcomes | Promise<BatchOutcomes>): readonly Outcome[] | Promise<readonly Outcome[]> {
  const all = (outcomes: BatchOutcomes) => Promise.all(outcomes.map((outcome) => Promise.resolve(outcome)));
  if (given instanceof Promise) return given.then(all);
  return given.some((outcome) => outcome instanceof Promise) ? all(given) : (given as readonly Outcome[]);
}

/** An outcome as observers see it. */
function show(outcome: Outcome, { thrown }: Delivery): HandlingOutcome {
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
