import { DelayQueueError } from '../../message/delay-queue-errors.js';
import { hasCode } from '../../message/failure.js';

/** A call that failed, of a write that takes several. */
export interface FailedPart {
  /** Such as `partition 3`. */
  readonly where: string;
  readonly error: unknown;
}

/** How many places an error names. */
const MOST_NAMED = 10;

/**
 * The error of a write that takes several calls, of which some have failed.
 *
 * @param what - the name of the method
 * @param done - what the other calls have done, as the rest of a sentence; undefined: nothing
 */
export function unfinished(what: string, done: string | undefined, failed: readonly FailedPart[]): unknown {
  const errors = failed.map(({ error }) => error);
  const worst = worstOf(errors);
  if (!(worst instanceof DelayQueueError) || (done === undefined && failed.length === 1)) return worst;
  const more = failed.length > MOST_NAMED ? ` and ${failed.length - MOST_NAMED} more` : '';
  const places = failed.slice(0, MOST_NAMED).map(({ where }) => where);
  const where = `${places.join(', ')}${more}`;
  const cause = new AggregateError(failed.map(named));
  if (done === undefined)
    return new DelayQueueError(worst.code, `${what} failed for ${where}: ${worst.message}`, { cause });
  const codes = [...new Set(errors.map((error) => (error as Partial<DelayQueueError>).code))].join(', ');
  const problem = `${what} ${done}. Failed: ${where} (${codes}). See \`cause.errors\`, then call it again.`;
  return new DelayQueueError(worst.code === 'NOT_REPLICATED' ? worst.code : 'OUTCOME_UNKNOWN', problem, { cause });
}

/** Of several failures, the one that leaves most open. */
export function worstOf(failures: readonly unknown[]): unknown {
  return (
    failures.find((error) => hasCode(error, 'OUTCOME_UNKNOWN')) ??
    failures.find((error) => !hasCode(error, 'NOT_REPLICATED')) ??
    failures[0]
  );
}

function named({ where, error }: FailedPart): unknown {
  if (!(error instanceof DelayQueueError)) return error;
  const { code, message, messageId } = error;
  return new DelayQueueError(code, `${where}: ${message}`, {
    cause: error,
    ...(messageId !== undefined && { messageId }),
  });
}
