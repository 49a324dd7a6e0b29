import type { HandlingOutcome } from '../events/delay-queue-observer.js';
import type { Observers } from '../events/observers.js';
import type { Outcome } from '../store/message-flow.js';
import type { Delivery } from './delivery.js';

/** Handles a message inside the hooks of the observers. Its outcome is what it would be without them. */
export function observed(
  around: NonNullable<Observers['handle']>,
  delivery: Delivery,
  handle: () => Outcome | Promise<Outcome>,
): Outcome | Promise<Outcome> {
  let outcome: Outcome | Promise<Outcome>;
  const shown = around(delivery, () => {
    outcome = handle();
    return outcome instanceof Promise ? outcome.then((known) => show(known, delivery)) : show(outcome, delivery);
  });
  return shown instanceof Promise ? shown.then(() => outcome) : outcome!;
}

/** An outcome for each message of a batch; a promise, if the schema of a new payload takes its time. */
export type BatchOutcomes = readonly (Outcome | Promise<Outcome>)[];

/** As {@link observed}, of one call with many messages. */
export function observedBatch(
  around: NonNullable<Observers['handleBatch']>,
  deliveries: readonly Delivery[],
  handle: () => BatchOutcomes | Promise<BatchOutcomes>,
): BatchOutcomes | Promise<BatchOutcomes> {
  let outcomes: readonly Outcome[] | Promise<readonly Outcome[]>;
  const showAll = (known: readonly Outcome[]) => known.map((outcome, i) => show(outcome, deliveries[i]!));
  const shown = around(deliveries, () => {
    outcomes = allOf(handle());
    return outcomes instanceof Promise ? outcomes.then(showAll) : showAll(outcomes);
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
      return { kind: outcome.kind, delay: outcome.delay };
    case 'retry':
      return { kind: 'retry', delay: outcome.delay, error: thrown?.error };
    case 'dead':
      return { kind: 'dead', error: thrown?.error };
  }
}
