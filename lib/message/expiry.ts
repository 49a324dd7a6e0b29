import { DelayQueueError } from './delay-queue-errors.js';
import { type Duration, parseDelay } from './duration.js';
import { showGiven } from './show-given.js';

/** What happens to an expired message: it is dropped, or becomes a dead letter. */
export type OnExpired = 'drop' | 'dead';

export interface Expiry {
  /** The time from the first due time to expiry, ms; null: the message never expires. */
  readonly after: number | null;
  /** Undefined if the queue's option applies. */
  readonly onExpired?: OnExpired | undefined;
}

/** Reads the expiry of an offer, or throws `INVALID_ARGUMENT`. */
export function readExpiry(expiresAfter: Duration | 'never' | undefined, onExpired: OnExpired | undefined): Expiry {
  if (expiresAfter === undefined) throw invalid('onExpired needs expiresAfter, which says when the message expires');
  if (onExpired !== undefined && onExpired !== 'drop' && onExpired !== 'dead') {
    throw invalid(`onExpired must be 'drop' or 'dead', not ${showGiven(onExpired)}`);
  }
  if (expiresAfter === 'never') return { after: null };
  const parsed = parseDelay(expiresAfter);
  if ('problem' in parsed) throw invalid(`expiresAfter ${parsed.problem}; or 'never'`);
  return { after: parsed.milliseconds, onExpired };
}

const invalid = (problem: string) => new DelayQueueError('INVALID_ARGUMENT', problem);
