import { DelayQueueError } from '../../../lib/index.js';

/** `failed`: the call cannot have had any effect. `unknown`: it may have had one. */
export function failureOf(error: unknown): 'failed' | 'unknown' {
  if (!(error instanceof DelayQueueError)) throw error;
  if (error.code === 'OUTCOME_UNKNOWN') return 'unknown';
  if (error.code === 'NOT_CONNECTED' || error.code === 'STORE_REFUSED' || error.code === 'CLOSED') return 'failed';
  throw error;
}
