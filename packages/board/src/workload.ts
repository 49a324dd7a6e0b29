import type { DelayQueueProducer, WorkerQueue, WorkerReport } from 'nestjs-delay-queue';

/** Who handles a queue. */
export interface Workload {
  /** The number of processes. */
  readonly workers: number;
  /** Per minute, over all processes. */
  readonly handled: number;
  readonly failed: number;
  /** Of the process with the highest; null if nothing was handled. */
  readonly lateness: { readonly p50: number; readonly p99: number } | null;
}

const NOBODY: Workload = { workers: 0, handled: 0, failed: 0, lateness: null };

/** Processes report every few seconds, so what was read is good for a while. */
const MAX_AGE = 5000;

/** Adds up what the processes of an instance report. */
export class Workloads {
  #read: { readonly at: number; readonly reports: Promise<Reports | undefined> } | undefined;

  constructor(private readonly producer: DelayQueueProducer) {}

  /** Returns undefined if the reports cannot be read: the rows of queues are shown without them. */
  async of(queue: string): Promise<Workload | undefined> {
    if (!this.#read || performance.now() - this.#read.at > MAX_AGE) {
      const reports = readWorkers(this.producer).then(
        (workers) => new Reports(workers),
        () => undefined,
      );
      this.#read = { at: performance.now(), reports };
    }
    return (await this.#read.reports)?.of(queue);
  }
}

class Reports {
  readonly #byName = new Map<string, Workload>();

  constructor(workers: readonly WorkerReport[]) {
    for (const report of workers.flatMap(({ queues }) => queues)) {
      this.#byName.set(report.queue, add(this.#byName.get(report.queue) ?? NOBODY, report));
    }
  }

  of(queue: string): Workload {
    let sum = this.#byName.get(queue) ?? NOBODY;
    for (const [name, load] of this.#byName) if (isPatternOf(name, queue)) sum = join(sum, load);
    return sum;
  }
}

async function readWorkers(producer: DelayQueueProducer): Promise<WorkerReport[]> {
  const workers: WorkerReport[] = [];
  let cursor: string | undefined;
  do {
    const page = await producer.workers(cursor === undefined ? { limit: 1000 } : { limit: 1000, cursor });
    workers.push(...page.workers);
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined);
  return workers;
}

/** A family is reported by its pattern, such as `tenant-*`. */
function isPatternOf(pattern: string, queue: string): boolean {
  const star = pattern.indexOf('*');
  if (star === -1 || queue.length < pattern.length - 1) return false;
  return queue.startsWith(pattern.slice(0, star)) && queue.endsWith(pattern.slice(star + 1));
}

function add(sum: Workload, { handled, failed, lateness }: WorkerQueue): Workload {
  return join(sum, { workers: 1, handled, failed, lateness: lateness ?? null });
}

function join(one: Workload, other: Workload): Workload {
  const [a, b] = [one.lateness, other.lateness];
  return {
    workers: one.workers + other.workers,
    handled: one.handled + other.handled,
    failed: one.failed + other.failed,
    lateness: a && b ? { p50: Math.max(a.p50, b.p50), p99: Math.max(a.p99, b.p99) } : (a ?? b),
  };
}
