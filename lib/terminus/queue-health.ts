import type { QueueStatus } from '../store/admin-store.js';
import { overdueOf } from '../store/admin-store.js';

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
  /** The partitions that do not answer, from 0: what is in them is left out. Absent: none. */
  readonly missing?: readonly number[];
}

export function healthOf(status: QueueStatus): QueueHealth {
  const { counts, paused, missing } = status;
  return { ...counts, paused, overdue: Math.round(overdueOf(status)), ...(missing && { missing }) };
}
