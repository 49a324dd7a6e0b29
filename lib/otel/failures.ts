import type { HandlingOutcome } from '../message/delay-queue-observer.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { describeFailure, isInstance } from '../message/failure.js';
import type { MessageFailure } from '../message/message.js';

export type FailedOutcome = Extract<HandlingOutcome, { readonly error: unknown }>;

export function hasFailed(outcome: HandlingOutcome): outcome is FailedOutcome {
  return outcome.kind === 'retry' || outcome.kind === 'dead';
}

/** Describes a thrown value. Its `name` groups errors: a code of this package, or the name of the error's class. */
export function describeError(thrown: unknown): MessageFailure {
  if (isInstance(thrown, DelayQueueError)) return { ...describeFailure(thrown), name: thrown.code };
  const failure = describeFailure(thrown);
  // Few error classes set their own `name`, so this takes the name of the class.
  return failure.name === 'Error' ? { ...failure, name: classOf(thrown) } : failure;
}

function classOf(thrown: unknown): string {
  try {
    return (thrown as Error).constructor.name || 'Error';
  } catch {
    return 'Error';
  }
}
