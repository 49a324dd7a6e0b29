import type { QueueNote, QueueRow } from './api.js';
import type { BoardInstance } from './instances.js';

/** A message that is a little late is on its way. */
const OVERDUE = 5000;

/** Reads the row of a queue. */
export async function readRow({ producer }: BoardInstance, queue: string): Promise<QueueRow> {
  const [counts, next, paused] = await Promise.all([
    producer.counts(queue),
    producer.nextDue(queue),
    producer.isPaused(queue),
  ]);
  const { delayed, ready, active, dead, missing } = counts;
  const row = {
    name: queue,
    ...{ delayed, ready, active, dead },
    nextDue: next?.toISOString() ?? null,
    overdueMs: next ? Math.max(0, Date.now() - next.getTime()) : 0,
    paused,
    ...(missing && { missing }),
    workers: 0,
    handledPerMinute: 0,
    failedPerMinute: 0,
    lateness: null,
  };
  return { ...row, notes: notesOn(row) };
}

function notesOn(row: Omit<QueueRow, 'notes'>): QueueNote[] {
  const { paused, missing, overdueMs, dead } = row;
  const notes: (QueueNote | false | undefined)[] = [
    paused && { code: 'paused', text: 'This queue is paused.' },
    missing && { code: 'partitions-missing', text: textOfMissing(missing) },
    overdueMs >= OVERDUE && !paused && { code: 'overdue', text: 'Delayed messages are overdue.' },
    dead > 0 && { code: 'dead-letters', text: dead === 1 ? '1 message has failed.' : `${dead} messages have failed.` },
  ];
  return notes.filter((note) => Boolean(note)) as QueueNote[];
}

function textOfMissing(missing: readonly number[]): string {
  if (missing.length === 1) return `Partition ${missing[0]} does not answer. Its messages are not counted.`;
  return `Partitions ${missing.join(', ')} do not answer. Their messages are not counted.`;
}
