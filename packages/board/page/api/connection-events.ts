import { ApiError } from './client.js';
import type { Listeners } from './use-events.js';

/** Listeners for what an event stream says about Redis. */
export function connectionEvents(report: (error: ApiError | null) => void): Listeners {
  return {
    away: () => report(new ApiError(503, 'REDIS_AWAY', 'The application cannot reach its Redis.')),
    back: () => report(null),
  };
}
