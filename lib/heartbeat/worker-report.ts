import type { StoredReport } from '../store/worker-registry.js';
import { dateOf } from '../message/duration.js';

/** A process that handles queues, as it has last reported. */
export interface WorkerReport {
  /** A random id of the process and instance of the module. */
  readonly id: string;
  /** The name of the machine or container. */
  readonly host: string;
  readonly pid: number;
  /** The version of nestjs-delay-queue. */
  readonly version: string;
  /** When the process started its handlers, by Redis' clock, give or take the time that a report takes to get there. */
  readonly startedAt: Date;
  /** When this report was made, by Redis' clock. */
  readonly seenAt: Date;
  /**
   * The queues that the process handles by name, and the families, by pattern: the most used first, at most 100, and fewer if their names
   * and ids are long. What is said of a family is about its queues that have messages.
   */
  readonly queues: readonly {
    /** The queue's name, or the family's pattern. */
    readonly queue: string;
    /** How many messages the process can handle at once. */
    readonly slots: number;
    /** How many slots hold a message. */
    readonly used: number;
    /** The message whose handler has been running for longest, and since when, by Redis' clock. Absent if no handler was running. */
    readonly longest?: { readonly id: string; readonly type: string; readonly since: Date };
    /** How many messages were handled in the last minute. */
    readonly handled: number;
    /** How many attempts failed in the last minute, for good or not. */
    readonly failed: number;
    /**
     * How late messages were given to their handlers in the last minute: half of them at most `p50` ms, and 99 of 100 at most `p99` ms, give
     * or take an eighth. Absent if there was none.
     */
    readonly lateness?: { readonly p50: number; readonly p99: number };
  }[];
}

type WorkerQueue = WorkerReport['queues'][number];

/** A report before it is stored. Times are durations in ms, because this process's clock may be wrong. */
export interface OwnReport {
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  /** How long ago the process started its handlers. */
  readonly age: number;
  /** The most important queue first. */
  readonly queues: readonly OwnQueue[];
}

export interface OwnQueue extends Omit<WorkerQueue, 'longest' | 'lateness'> {
  readonly longest: { readonly id: string; readonly type: string; readonly age: number } | undefined;
  readonly lateness: WorkerQueue['lateness'] | undefined;
}

/** The maximum number of queues in a report. */
export const MAX_QUEUES = 100;

/** The maximum size of the queues in a report, bytes. */
const MAX_BYTES = 8192;

/** Writes a report as JSON. Its queues are lists, without the names of fields, because there may be many. */
export function writeReport({ queues, ...report }: OwnReport): string {
  const written: string[] = [];
  let bytes = 0;
  for (const queue of queues.slice(0, MAX_QUEUES)) {
    const text = writeQueue(queue);
    bytes += Buffer.byteLength(text);
    if (bytes > MAX_BYTES) break;
    written.push(text);
  }
  return JSON.stringify(report).replace(/}$/, `,"queues":[${written.join()}]}`);
}

function writeQueue({ queue, slots, used, handled, failed, lateness, longest }: OwnQueue): string {
  const { p50 = null, p99 = null } = lateness ?? {};
  return JSON.stringify([
    ...[queue, slots, used, handled, failed, p50, p99],
    ...(longest ? [longest.id, longest.type, longest.age] : []),
  ]);
}

/** Reads a stored report; undefined if it is not one. */
export function readReport({ id, at, report }: StoredReport): WorkerReport | undefined {
  try {
    const { host, pid, version, age, queues } = JSON.parse(report) as Record<keyof OwnReport, unknown>;
    return {
      id,
      host: text(host),
      pid: number(pid),
      version: text(version),
      startedAt: dateOf(at - number(age)),
      seenAt: dateOf(at),
      queues: list(queues).map((queue) => readQueue(list(queue), at)),
    };
  } catch {
    // Something else has written it, or a version that this one does not understand.
    return undefined;
  }
}

function readQueue(fields: readonly unknown[], at: number): WorkerQueue {
  const [queue, slots, used, handled, failed, p50, p99, id, type, age] = fields;
  return {
    queue: text(queue),
    slots: number(slots),
    used: number(used),
    ...(id !== undefined && { longest: { id: text(id), type: text(type), since: dateOf(at - number(age)) } }),
    handled: number(handled),
    failed: number(failed),
    ...(p50 !== null && { lateness: { p50: number(p50), p99: number(p99) } }),
  };
}

function text(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new TypeError('not a text');
}

function number(value: unknown): number {
  if (typeof value === 'number') return value;
  throw new TypeError('not a number');
}

function list(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new TypeError('not a list');
}
