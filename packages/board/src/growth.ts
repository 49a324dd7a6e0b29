import type { QueueNote, QueueRow } from './api.js';

/** Growth is seen from a sample that is at least so old, ms. */
const SAMPLE_AGE = 30_000;

interface Samples {
  readonly at: number;
  readonly ready: number;
  readonly before: { readonly at: number; readonly ready: number } | undefined;
}

/** Watches backlogs grow. */
export class Growth {
  readonly #samples = new Map<string, Samples>();

  /**
   * Adds a note to the row of a queue whose backlog grows.
   * @param now - the time by the monotonic clock, ms
   */
  mark(row: QueueRow, now: number): QueueRow {
    const last = this.#last(row.name, now);
    if (!last || now - last.at >= SAMPLE_AGE) {
      this.#samples.set(row.name, { at: now, ready: row.ready, before: last });
    }
    const before = last && now - last.at >= SAMPLE_AGE ? last : last?.before;
    if (!before || row.ready <= before.ready * 1.2 + 10) return row;
    const note: QueueNote = { code: 'growing', text: 'More and more due messages wait for a consumer.' };
    return { ...row, notes: [...row.notes, note] };
  }

  /** Forgets queues that nobody has watched for a while. */
  prune(now: number): void {
    for (const name of this.#samples.keys()) {
      if (!this.#last(name, now)) this.#samples.delete(name);
    }
  }

  #last(name: string, now: number): Samples | undefined {
    const last = this.#samples.get(name);
    return last && now - last.at <= 2 * SAMPLE_AGE ? last : undefined;
  }
}
