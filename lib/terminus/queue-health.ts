import { overdueOf, type QueueStatus } from '../store/admin-store.js';

/** The result of a health check for one queue. */
export interface QueueHealth {
  /** The number of delayed messages. */
  readonly delayed: number;
  /** The number of due messages that wait for a handler. */
  readonly ready: number;
  /** The number of messages that a consumer has claimed. */
  readonly active: number;
  /** The number of dead letters. */
  readonly dead: number;
  /** True if the queue is paused. */
  readonly paused: boolean;
  /** How long the oldest due message has waited for a handler, ms by Redis' clock; 0 if none waits. */
  readonly overdue: number;
  /** The indexes, from 0, of partitions that do not answer and whose messages are not counted. Absent if all answer. */
  readonly missing?: readonly number[];
}

export function healthOf(status: QueueStatus): QueueHealth {
  const { counts, paused, missing } = status;
  return { ...counts, paused, overdue: Math.round(overdueOf(status)), ...(missing && { missing }) };
}
