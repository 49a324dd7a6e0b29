import { type PageQuery, readPage } from '../message/page.js';
import type { WorkerRegistry } from '../store/worker-registry.js';
import { readReport, type WorkerReport } from './worker-report.js';

/** One page of the processes that are alive. */
export interface WorkerPage {
  /** The processes, by id. */
  readonly workers: readonly WorkerReport[];
  /** Pass this to get the next page; null on the last page. */
  readonly cursor: string | null;
}

/** Lists one page of the processes that are alive. The cursor is the last id on a page; it stays valid even if that process ends. */
export async function listWorkers(
  registry: WorkerRegistry | undefined,
  query: PageQuery | undefined,
): Promise<WorkerPage> {
  const { cursor = '', limit } = readPage(query);
  if (!registry) return { workers: [], cursor: null };
  const { reports, isMore } = await registry.list({ after: cursor, limit });
  return {
    workers: reports.flatMap((report) => readReport(report) ?? []),
    cursor: isMore ? reports.at(-1)!.id : null,
  };
}
