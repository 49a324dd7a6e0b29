import { type PageQuery, readPage } from '../message/page.js';
import type { WorkerRegistry } from '../store/worker-registry.js';
import { readReport, type WorkerReport } from './worker-report.js';

/** Lists one page of the processes that are alive. The cursor is the last id on a page; it stays valid even if that process ends. */
export async function listWorkers(
  registry: WorkerRegistry | undefined,
  query: PageQuery | undefined,
): Promise<{ readonly workers: readonly WorkerReport[]; readonly cursor: string | null }> {
  const { cursor = '', limit } = readPage(query);
  if (!registry) return { workers: [], cursor: null };
  const { reports, isMore } = await registry.list({ after: cursor, limit });
  return {
    workers: reports.flatMap((report) => readReport(report) ?? []),
    cursor: isMore ? reports.at(-1)!.id : null,
  };
}
