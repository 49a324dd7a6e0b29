import { DelayQueueError } from '../../message/delay-queue-errors.js';
import { showFailure } from '../../message/failure.js';
import type { ScriptArgument } from '../script/script-call.js';
import type { ScriptReply } from '../script/script-reply.js';

/** What a write waits for before it is answered. */
export interface Copies {
  /** How many replicas have it; 0 or more. */
  readonly replicas: number;
  /** For how long, ms. */
  readonly within: number;
  /** Whether the primary and those replicas have it on disk. */
  readonly fsync: boolean;
}

/** The command that waits for what its connection has written, and answers with how many have it. */
export function waitFor({ replicas, within, fsync }: Copies): { command: string; words: ScriptArgument[] } {
  return fsync ? { command: 'WAITAOF', words: [1, replicas, within] } : { command: 'WAIT', words: [replicas, within] };
}

/**
 * Reads the answer of {@link waitFor}.
 *
 * @returns what is missing, for people to read; undefined: nothing
 */
export function missingCopies(answer: ScriptReply, { replicas, fsync }: Copies): string | undefined {
  if (fsync && answer.number() < 1) return 'the primary has not written it to disk';
  const copied = answer.number();
  return copied < replicas ? `${copied} of ${replicas} replicas have confirmed it` : undefined;
}

/** The error for what the primary has, but perhaps nobody else. */
export function notReplicated({ within }: Copies, reason: unknown): DelayQueueError {
  const problem = typeof reason === 'string' ? reason : showFailure(reason);
  return new DelayQueueError(
    'NOT_REPLICATED',
    `Redis has carried it out, but it is not known to be copied within ${within} ms: ${problem}. It is only undone if the ` +
      'primary is lost before it is copied; a later call that succeeds confirms it, too.',
    { cause: reason },
  );
}
