import type { QueueStatus } from './message-upkeep.js';

/**
 * How long the oldest due message has waited for a handler, ms by the store's clock; 0: none waits. Delayed messages count as soon as
 * they are due: nothing makes them ready while no process is there to do it.
 */
export function overdueOf({ now, nextDue, oldestReady }: QueueStatus): number {
  return Math.max(0, now - (nextDue ?? now), now - (oldestReady ?? now));
}
