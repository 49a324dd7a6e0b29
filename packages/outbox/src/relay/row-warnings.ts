import { Logger } from '@nestjs/common';
import type { FailedRow } from '../table/row.js';

/** Maximum number of rows of a kind that are named each minute. Of others the number is logged. */
const MAX_NAMED = 10;
const PERIOD = 60_000;

interface Kind {
  readonly description: string;
  readonly since: number;
  count: number;
}

/** Logs the rows that cannot be relayed. Thousands may fail for one reason, so only some of each kind are named. */
export class RowWarnings {
  readonly #kinds = new Map<string, Kind>();

  constructor(
    private readonly logger: Logger,
    private readonly table: string,
  ) {}

  warn({ row: { seq, queue }, error, code, retryAfter }: FailedRow, now: number): void {
    const then =
      retryAfter === undefined ? 'it is parked until it is retried' : `next attempt in ${retryAfter} ms or later`;
    const description = `of queue '${queue}' ${retryAfter === undefined ? 'parked' : 'not relayed'}: ${code}`;
    let kind = this.#kinds.get(description);
    if (!kind) this.#kinds.set(description, (kind = { description, since: now, count: 0 }));
    if (++kind.count <= MAX_NAMED) this.logger.warn(`Row ${seq} of ${this.table} cannot be relayed, ${then}: ${error}`);
  }

  /** Logs how many were not named, at the end of each minute. */
  sum(now: number, isLast = false): void {
    for (const [key, { description, since, count }] of this.#kinds) {
      if (now - since < PERIOD && !isLast) continue;
      this.#kinds.delete(key);
      if (count > MAX_NAMED) this.logger.warn(`${count - MAX_NAMED} more rows of ${this.table} ${description}`);
    }
  }
}
