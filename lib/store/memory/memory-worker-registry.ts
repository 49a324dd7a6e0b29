import { type Clock, steadyClock } from '../../timing/clock.js';
import { REPORT_VALID, type ReportPage, type StoredReport, type WorkerRegistry } from '../worker-registry.js';

/** The processes that handle queues, in this process: its own instance or, in a simulation, all instances that share it. */
export class MemoryWorkerRegistry implements WorkerRegistry {
  readonly #reports = new Map<string, StoredReport>();
  readonly #now: () => number;

  constructor(clock: Pick<Clock, 'wall' | 'monotonic'>) {
    this.#now = steadyClock(clock);
  }

  report(id: string, report: string): Promise<void> {
    for (const [other, each] of this.#reports) if (!this.#isValid(each)) this.#reports.delete(other);
    this.#reports.set(id, { id, report, at: this.#now() });
    return Promise.resolve();
  }

  remove(id: string): Promise<void> {
    this.#reports.delete(id);
    return Promise.resolve();
  }

  list({ after, limit }: { after: string; limit: number }): Promise<ReportPage> {
    const reports = [...this.#reports.values()].filter((each) => each.id > after && this.#isValid(each));
    reports.sort((one, other) => (one.id < other.id ? -1 : 1));
    return Promise.resolve({ reports: reports.slice(0, limit), isMore: reports.length > limit });
  }

  #isValid({ at }: StoredReport): boolean {
    return at > this.#now() - REPORT_VALID;
  }
}
