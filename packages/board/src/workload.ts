import type { DelayQueueProducer, WorkerReport } from 'nestjs-delay-queue';
import { familyOf } from 'nestjs-delay-queue/diagnosis';

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

/** What one process reports. */
interface ProcessReport {
  /** By the names of queues and the patterns of families. */
  readonly queues: ReadonlyMap<string, WorkerReport['queues'][number]>;
  /** The patterns, such as `tenant-*`. */
  readonly families: readonly string[];
}

class Reports {
  readonly #processes: readonly ProcessReport[];
  readonly #workloads = new Map<string, Workload>();

  constructor(workers: readonly WorkerReport[]) {
    this.#processes = workers.map(({ queues }) => ({
      queues: new Map(queues.map((report) => [report.queue, report])),
      families: queues.flatMap(({ queue }) => (queue.endsWith('*') ? [queue] : [])),
    }));
  }

  of(queue: string): Workload {
    const workload = this.#workloads.get(queue) ?? this.#processes.reduce((sum, each) => add(sum, each, queue), NOBODY);
    this.#workloads.set(queue, workload);
    return workload;
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

/** Adds what a process reports about a queue, or about its family. */
function add(sum: Workload, { queues, families }: ProcessReport, queue: string): Workload {
  const report = queues.get(queue) ?? queues.get(familyOf(queue, families) ?? '');
  if (!report) return sum;
  const [a, b] = [sum.lateness, report.lateness];
  return {
    workers: sum.workers + 1,
    handled: sum.handled + report.handled,
    failed: sum.failed + report.failed,
    lateness: a && b ? { p50: Math.max(a.p50, b.p50), p99: Math.max(a.p99, b.p99) } : (a ?? b ?? null),
  };
}
