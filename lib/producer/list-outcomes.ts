import { DelayQueueError } from '../message/delay-queue-errors.js';
import { hasCode } from '../message/failure.js';
import { showNames } from '../message/show-given.js';
import type { OfferReceipt } from '../store/producer-store.js';
import { WriteFailure, type WriteOutcome } from '../store/router.js';
import { worstOf } from '../store/write-all.js';
import type { OfferResult } from './offer.js';

interface SortedOutcomes {
  readonly results: OfferResult[];
  readonly refusals: DelayQueueError[];
  readonly failures: unknown[];
}

/** @param resultOf - converts the receipt of the offer at an index; throws if that offer was refused */
export function sortOutcomes(
  outcomes: readonly WriteOutcome[],
  resultOf: (receipt: OfferReceipt, place: number) => OfferResult,
): SortedOutcomes {
  const sorted: SortedOutcomes = { results: [], refusals: [], failures: [] };
  for (let place = 0; place < outcomes.length; place++) {
    const outcome = outcomes[place]!;
    try {
      if (outcome instanceof WriteFailure) sorted.failures.push(outcome.error);
      else sorted.results.push(resultOf(outcome, place));
    } catch (error) {
      const isWritten = hasCode(error, 'NOT_REPLICATED');
      (isWritten ? sorted.failures : sorted.refusals).push(error);
    }
  }
  return sorted;
}

/** Makes the error for a list of offers, some of which were refused and the rest accepted. */
export function refused(refusals: readonly DelayQueueError[], all: number): DelayQueueError {
  const first = refusals[0]!;
  return new DelayQueueError(
    first.code,
    `${refusals.length} of ${all} offers were refused, the others were accepted. The first error: ${first.message}`,
    { cause: new AggregateError(refusals) },
  );
}

/** Makes the error for a list of offers, some of which are not known to be written. */
export function incomplete(failures: readonly unknown[], written: number, all: number): unknown {
  const cause = worstOf(failures);
  if (hasCode(cause, 'NOT_REPLICATED')) return notReplicated(failures, all);
  return written === 0 ? cause : onlyPartly(written, all, { message: (cause as Error).message, cause });
}

/**
 * Like {@link incomplete}, for a list spread over several partitions. The error names the offers that are not known to be written;
 * `cause.errors` holds an error for each of them and for each refused offer.
 * @param failures - errors that carry the ids of their messages
 */
export function incompleteInPartitions(
  failures: readonly unknown[],
  refusals: readonly unknown[],
  all: number,
): unknown {
  const worst = worstOf(failures);
  if (!(worst instanceof DelayQueueError)) return worst;
  if (worst.code === 'NOT_REPLICATED') return notReplicated([...failures, ...refusals], all);
  const ids = failures.map((error) => `'${(error as DelayQueueError).messageId}'`);
  const message = `${worst.message} Not known to be written: ${showNames(ids)}.`;
  const cause = new AggregateError([...failures, ...refusals]);
  const written = all - failures.length - refusals.length;
  return written === 0
    ? new DelayQueueError(worst.code, message, { cause })
    : onlyPartly(written, all, { message, cause });
}

/** Makes the error for a list in which some offers were written, but are not known to be replicated. */
function notReplicated(problems: readonly unknown[], all: number): DelayQueueError {
  const unreplicated = problems.filter((error) => hasCode(error, 'NOT_REPLICATED'));
  return new DelayQueueError(
    'NOT_REPLICATED',
    `${unreplicated.length} of ${all} offers are not known to be replicated. The first error: ${unreplicated[0]!.message}`,
    { cause: new AggregateError(problems) },
  );
}

function onlyPartly(
  written: number,
  all: number,
  { message, cause }: { message: string; cause: unknown },
): DelayQueueError {
  return new DelayQueueError(
    'OUTCOME_UNKNOWN',
    `Only ${written} of ${all} offers are known to be written, then: ${message} ` +
      'Offering all of them again is safe if you gave them ids.',
    { cause },
  );
}
