import { DUE, KEPT, type Step } from './settings.js';

/** A message that is in a queue at the end, or that was handled. */
export interface Seen {
  readonly id: string;
  readonly n: number;
  readonly dueAt?: number;
}

/** All that is known at the end of a run. */
export interface Evidence {
  /** In the order in which each writer took them. */
  readonly steps: readonly Step[];
  /** The transactions that the database has. */
  readonly committed: ReadonlySet<number>;
  readonly kept: readonly Seen[];
  readonly handled: readonly Seen[];
}

/** The result of a run. */
export interface Verdict {
  readonly committed: number;
  readonly rolledBack: number;
  /** Committed, and neither in the queue nor handled; or with another due time than the last step gave it. */
  readonly lost: readonly string[];
  /** In a queue, or handled, though nobody has committed it. */
  readonly ghosts: readonly string[];
  /** One offer that became two messages. */
  readonly doubled: readonly string[];
  /** Handled more than once: promised by nobody, and worth a look. */
  readonly handledAgain: number;
}

/** Judges a run by what the database says was committed, without asking the outbox. */
export function judge({ steps, committed, kept, handled }: Evidence): Verdict {
  const taken = steps.filter(({ n }) => committed.has(n));
  const lost: string[] = [];
  const ghosts: string[] = [];
  const doubled: string[] = [];

  const expected = new Map<string, { n: number; at?: number | undefined }>();
  for (const { n, id, queue, operation, at } of taken) {
    if (queue !== KEPT) continue;
    const message = expected.get(id);
    if (operation === 'cancel') expected.delete(id);
    else if (operation === 'reschedule' && message) message.at = at;
    else if (operation === 'offer' && !message) expected.set(id, { n, at });
  }
  const inQueue = new Map(kept.map((message) => [message.id, message]));
  for (const [id, { n, at }] of expected) {
    const message = inQueue.get(id);
    if (message?.n !== n)
      lost.push(`${id} of transaction ${n}: ${message ? `is of ${message.n}` : 'is not in the queue'}`);
    else if (at !== undefined && message.dueAt !== at) lost.push(`${id} is due at ${message.dueAt}, not at ${at}`);
  }
  for (const { id, n } of kept) {
    if (!committed.has(n)) ghosts.push(`${id} of transaction ${n}, which was rolled back`);
    else if (!expected.has(id))
      doubled.push(`${id} of transaction ${n} is there beside what was offered, or after its cancel`);
  }

  const due = new Map(taken.filter(({ queue }) => queue === DUE).map(({ n, id }) => [n, id]));
  const times = new Map<number, number>();
  for (const { n, id } of handled) {
    times.set(n, (times.get(n) ?? 0) + 1);
    if (!committed.has(n)) ghosts.push(`${id} of transaction ${n} was handled, and rolled back`);
    else if (due.get(n) !== id) doubled.push(`transaction ${n} was handled as ${id}, not as ${due.get(n)}`);
  }
  for (const [n, id] of due) if (!times.has(n)) lost.push(`${id} of transaction ${n} was never handled`);
  const handledAgain = [...times.values()].filter((count) => count > 1).length;
  return { committed: committed.size, rolledBack: steps.length - taken.length, lost, ghosts, doubled, handledAgain };
}
