import type { QueueStatus } from '../store/admin-store.js';
import { overdueOf } from '../store/admin-store.js';

/** The result of a health check for one queue. */
export interface QueueHealth {
  /** Number of delayed messages. */
  readonly delayed: number;
  /** Number of due messages that wait for a handler. */
  readonly ready: number;
  /** Number of messages with a handler. */
  readonly active: number;
  /** Number of dead letters. */
  readonly dead: number;
  /** True if the queue is paused. */
  readonly paused: boolean;
  /** How long the oldest due message has waited for a handler, ms by the clock of Redis; 0: none waits. */
  readonly overdue: number;
  /** The partitions that do not answer, from 0, whose messages are left out. Absent: none. */
  readonly missing?: readonly number[];
}

export function healthOf(status: QueueStatus): QueueHealth {
  const { counts, paused, missing } = status;
  return { ...counts, paused, overdue: Math.round(overdueOf(status)), ...(missing && { missing }) };
}
