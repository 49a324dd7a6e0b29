import { DelayQueueError } from '../message/delay-queue.errors.js';

/** A page ends at a letter's time of death and id; both survive that letter's removal. */
export interface DeadLetterPosition {
  readonly diedAt: number;
  readonly id: string;
}

export function formatCursor({ diedAt, id }: DeadLetterPosition): string {
  return `${diedAt}:${id}`;
}

/**
 * @throws DelayQueueError `INVALID_ARGUMENT`
 */
export function parseCursor(cursor: string): DeadLetterPosition {
  const [, diedAt, id] = /^(\d{1,15}):(.+)$/s.exec(cursor) ?? [];
  if (diedAt === undefined || id === undefined) {
    throw new DelayQueueError('INVALID_ARGUMENT', 'cursor: must be the `cursor` of an earlier page of dead letters');
  }
  return { diedAt: Number(diedAt), id };
}
