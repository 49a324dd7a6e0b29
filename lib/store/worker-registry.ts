/**
 * The port that lists the processes that handle queues. Each process stores a report of itself again and again, and is listed while its
 * latest report is valid. Times are by the store's clock.
 */
export interface WorkerRegistry {
  /** Stores a process's report in place of its previous one, and drops reports that are no longer valid, a limited number per call. */
  report(id: string, report: string): Promise<void>;

  /** Removes a process's report, if there is one. */
  remove(id: string): Promise<void>;

  /**
   * Lists the valid reports of the processes whose ids follow `after` in byte order: at most `limit`, and about 1 MiB. A page that is not
   * the last one has at least one report.
   */
  list(page: { readonly after: string; readonly limit: number }): Promise<ReportPage>;
}

/** How long a report is valid, ms. */
export const REPORT_VALID = 30_000;

export interface ReportPage {
  readonly reports: readonly StoredReport[];
  /** True if further reports may follow. */
  readonly isMore: boolean;
}

export interface StoredReport {
  /** The random id of the process and instance. */
  readonly id: string;
  readonly report: string;
  /** When the report was stored, ms since the epoch. */
  readonly at: number;
}
