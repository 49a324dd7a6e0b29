import type { QueueStatus } from '../store/message-upkeep.js';

/** What a health check found out about a queue. */
export interface QueueHealth {
  /** How many messages are delayed. */
  readonly delayed: number;
  /** How many are due, and wait for a handler. */
  readonly ready: number;
  /** How many are being handled. */
  readonly active: number;
  /** How many are dead letters. */
  readonly dead: number;
  /** Whether the queue is paused. */
  readonly paused: boolean;
  /** How long the oldest due message has waited for a handler, ms by the clock of Redis; 0: none waits. */
  readonly overdue: number;
}

/** Delayed messages count as soon as they are due: nothing makes them ready while no process is there to do it. */
export function healthOf({ counts, now, nextDue, oldestReady, paused }: QueueStatus): QueueHealth {
  const oldest = Math.min(nextDue ?? Infinity, oldestReady ?? Infinity);
  return { ...counts, paused, overdue: oldest === Infinity ? 0 : Math.max(0, Math.round(now - oldest)) };
}
