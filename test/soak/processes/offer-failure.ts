import type { DelayQueueErrorCode } from '../../../lib/index.js';
import { hasCode } from '../../../lib/message/failure.js';

const NOT_SENT: readonly DelayQueueErrorCode[] = [
  'NOT_CONNECTED',
  'LOGIN_REFUSED',
  'STORE_REFUSED',
  'OFFER_TIMEOUT',
  'CLOSED',
];

/** `failed`: the call cannot have had any effect. `unknown`: it may have had one, or may still lose it. */
export function failureOf(error: unknown): 'failed' | 'unknown' {
  if (hasCode(error, 'OUTCOME_UNKNOWN', 'NOT_REPLICATED')) return 'unknown';
  if (hasCode(error, ...NOT_SENT)) return 'failed';
  throw error;
}
