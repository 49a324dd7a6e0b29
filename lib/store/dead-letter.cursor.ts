import { DelayQueueError } from '../message/delay-queue.errors.js';

/** Where a page ends: the time of death and the id of its last letter. It stays valid when that letter is removed. */
export interface DeadLetterPosition {
  readonly diedAt: number;
  readonly id: string;
}

export function formatCursor({ diedAt, id }: DeadLetterPosition): string {
  return `${diedAt}:${id}`;
}

/**
 * Reads a cursor that {@link formatCursor} wrote.
 *
 * @throws DelayQueueError `INVALID_ARGUMENT`
 */
export function parseCursor(cursor: string): DeadLetterPosition {
  const [, diedAt, id] = /^(\d{1,15}):(.+)$/s.exec(cursor) ?? [];
  if (diedAt === undefined || id === undefined) {
    throw new DelayQueueError('INVALID_ARGUMENT', 'cursor: must be the `cursor` of an earlier page of dead letters');
  }
  return { diedAt: Number(diedAt), id };
}
