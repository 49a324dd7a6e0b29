/** The maximum number of reports remembered. A forgotten one may be repeated. */
const MAX_REPORTED = 10_000;

/** Remembers what has been reported. */
export class AlreadyReported {
  readonly #reports = new Set<string>();

  has(report: string): boolean {
    return this.#reports.has(report);
  }

  /** Returns true for a new report, and remembers it. */
  add(report: string): boolean {
    if (this.#reports.has(report)) return false;
    if (this.#reports.size >= MAX_REPORTED) this.#reports.clear();
    this.#reports.add(report);
    return true;
  }
}
