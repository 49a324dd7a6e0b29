import { DelayQueueError, type DelayQueueErrorCode } from '../../../lib/index.js';

const NOT_SENT: readonly DelayQueueErrorCode[] = ['NOT_CONNECTED', 'LOGIN_REFUSED', 'STORE_REFUSED', 'CLOSED'];

/** `failed`: the call cannot have had any effect. `unknown`: it may have had one. */
export function failureOf(error: unknown): 'failed' | 'unknown' {
  if (!(error instanceof DelayQueueError)) throw error;
  if (error.code === 'OUTCOME_UNKNOWN') return 'unknown';
  if (NOT_SENT.includes(error.code)) return 'failed';
  throw error;
}
