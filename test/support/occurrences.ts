import type { WorkerProcess } from './worker/worker-process.js';

/** A handler has started with an occurrence of a message that repeats. */
export interface Started {
  /** The time of the occurrence, ms since the epoch. */
  readonly at: number;
  readonly attempt: number;
  /** The time at which the handler started. */
  readonly startedAt: number;
  readonly cron: string;
}

/** The occurrences that these processes have seen, in the order of their times. */
export function occurrencesOf(workers: readonly WorkerProcess[]): Started[] {
  const started = workers.flatMap((worker) =>
    // Without retries, an occurrence falls due at its time in each attempt.
    worker.of('start').map(({ at = 0, attempt, late, cron = '' }) => ({ at, attempt, startedAt: at + late, cron })),
  );
  return started.sort((one, other) => one.at - other.at || one.attempt - other.attempt);
}

/** What a second chain would show: an attempt that two processes have made. */
export function doubles(started: readonly Started[]): string[] {
  const keys = started.map(({ at, attempt }) => `${new Date(at).toISOString()}, attempt ${attempt}`);
  return keys.filter((key, i) => keys[i - 1] === key);
}

/** Times between two occurrences that came after the first one had begun for the last time: nothing stands for them. */
export function missing(started: readonly Started[], period: number): string[] {
  /** What the journal of a busy process adds. */
  const late = 100;
  return started.slice(1).flatMap(({ at }, i) => {
    const before = started[i]!;
    const left: string[] = [];
    for (let time = before.at + period; time < at; time += period) {
      if (time > before.startedAt + late) left.push(new Date(time).toISOString());
    }
    return left;
  });
}
