import type { QueueNote, QueueRow } from './api.js';
import type { QueueStatus } from 'nestjs-delay-queue';
import type { BoardInstance } from './instances.js';
import type { Workload } from './workload.js';

/** A message that is a little late is on its way. */
const OVERDUE = 5000;

/** Reads the row of a queue. */
export async function readRow(instance: BoardInstance, queue: string): Promise<QueueRow> {
  return rowOf(queue, await instance.producer.status(queue), await instance.workload.of(queue));
}

/** How many queues are read at once. */
const CONCURRENT = 100;

/** Reads the rows of many queues. */
export async function readRows(instance: BoardInstance, queues: readonly string[]): Promise<QueueRow[]> {
  const rows: QueueRow[] = [];
  for (let i = 0; i < queues.length; i += CONCURRENT) {
    rows.push(...(await Promise.all(queues.slice(i, i + CONCURRENT).map((queue) => readRow(instance, queue)))));
  }
  return rows;
}

/** @param load - undefined if it is unknown who handles the queue */
export function rowOf(queue: string, status: QueueStatus, load: Workload | undefined): QueueRow {
  const { delayed, ready, active, dead, missing, nextDue, isPaused } = status;
  const row = {
    name: queue,
    ...{ delayed, ready, active, dead },
    nextDue: nextDue?.toISOString() ?? null,
    overdueMs: nextDue ? Math.max(0, Date.now() - nextDue.getTime()) : 0,
    paused: isPaused,
    ...(missing && { missing }),
    workers: load?.workers ?? 0,
    handledPerMinute: load?.handled ?? 0,
    failedPerMinute: load?.failed ?? 0,
    lateness: load?.lateness ?? null,
  };
  return { ...row, notes: notesOn(row, load) };
}

function notesOn(row: Omit<QueueRow, 'notes'>, load: Workload | undefined): QueueNote[] {
  const { delayed, ready, active, paused, missing, overdueMs, dead } = row;
  const isUnhandled = load?.workers === 0 && delayed + ready + active > 0;
  const notes: (QueueNote | false | undefined)[] = [
    paused && { code: 'paused', text: 'This queue is paused.' },
    isUnhandled && { code: 'no-worker', text: 'No process handles this queue.' },
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
