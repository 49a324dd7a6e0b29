import { DelayQueueError } from '../message/delay-queue-errors.js';
import { dateOf, dueAt } from '../message/duration.js';
import { readFields, readWholeNumber } from '../message/read-fields.js';
import type { WholeQueue } from '../store/whole-queue.js';

/** How many delayed messages fall due when. */
export interface DueHistogram {
  readonly from: Date;
  readonly to: Date;
  /** The messages in each bucket. A bucket includes its start, but not its end. */
  readonly counts: readonly number[];
  /** The messages due before `from`. */
  readonly before: number;
  /** The messages due at `to` or later. */
  readonly after: number;
  /** The partitions that did not answer, as in {@link QueueCounts}. */
  readonly missing?: readonly number[];
}

/** The times that a histogram covers. */
export interface HistogramQuery {
  readonly from: Date;
  /** Later than `from`. */
  readonly to: Date;
  /** The number of buckets of equal width, to the millisecond: 1–400. */
  readonly buckets: number;
}

const MAX_BUCKETS = 400;

/** @throws DelayQueueError `INVALID_ARGUMENT` */
export async function countByDue(store: WholeQueue, query: HistogramQuery): Promise<DueHistogram> {
  const given = readFields(query, 'query', ['from', 'to', 'buckets']);
  const from = dueAt(given.from!, 'from').at;
  const to = dueAt(given.to!, 'to').at;
  if (from >= to) throw new DelayQueueError('INVALID_ARGUMENT', 'to must be later than from');
  const buckets = readWholeNumber('buckets', given.buckets, [1, MAX_BUCKETS]);
  const edges = Array.from({ length: buckets + 1 }, (_, i) => from + Math.floor(((to - from) * i) / buckets));
  const { counts, missing } = await store.countDue(edges);
  return {
    from: dateOf(from),
    to: dateOf(to),
    counts: counts.slice(1, -1),
    before: counts[0]!,
    after: counts.at(-1)!,
    ...(missing && { missing }),
  };
}
