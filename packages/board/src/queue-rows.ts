import type { QueueNote, QueueRow } from './api.js';
import type { QueueStatus } from 'nestjs-delay-queue';
import type { BoardInstance } from './instances.js';
import type { Workload } from './workload.js';

/** A message that is a little late is on its way. */
const OVERDUE = 5000;

/** How many queues are read at once. */
const CONCURRENT = 100;

interface Rows {
  readonly rows: readonly QueueRow[];
  /** The latest time by Redis' clock, or by this process's without queues. */
  readonly now: Date;
}

/** Reads the rows of many queues. */
export async function readRows({ producer, workload }: BoardInstance, queues: readonly string[]): Promise<Rows> {
  const rows: QueueRow[] = [];
  let latest = 0;
  const read = async (queue: string) => {
    const status = await producer.status(queue);
    latest = Math.max(latest, status.now.getTime());
    return rowOf(queue, status, await workload.of(queue));
  };
  for (let i = 0; i < queues.length; i += CONCURRENT) {
    rows.push(...(await Promise.all(queues.slice(i, i + CONCURRENT).map(read))));
  }
  return { rows, now: latest === 0 ? new Date() : new Date(latest) };
}

/** @param load - undefined if it is unknown who handles the queue */
export function rowOf(queue: string, status: QueueStatus, load: Workload | undefined): QueueRow {
  const { delayed, ready, active, dead, missing, now, nextDue, isPaused } = status;
  const row = {
    name: queue,
    ...{ delayed, ready, active, dead },
    nextDue: nextDue?.toISOString() ?? null,
    overdueMs: nextDue ? Math.max(0, now.getTime() - nextDue.getTime()) : 0,
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
