import { partitionOf } from '../message/partition-of.js';

/** The present and former numbers of partitions of a queue. All processes and partitions use the newest partitioning that they know. */
export interface Partitioning {
  /** Rises with every change. */
  readonly epoch: number;
  /** The number of partitions for new messages. */
  readonly count: number;
  /** Former numbers, for as long as messages may still be in their partitions. */
  readonly formers: readonly number[];
}

/** The partitioning of a queue that stores none, because it never had several partitions. */
export const UNPARTITIONED: Partitioning = { epoch: 0, count: 1, formers: [] };

/** Formats it for storage: `2 16 8 4` is epoch 2, count 16, formers 8 and 4. */
export function formatPartitioning({ epoch, count, formers }: Partitioning): string {
  return [epoch, count, ...formers].join(' ');
}

/** Returns undefined if the text is not a partitioning. */
export function parsePartitioning(text: string): Partitioning | undefined {
  if (!/^\d+( \d+)+$/.test(text)) return undefined;
  const [epoch, count, ...formers] = text.split(' ').map(Number);
  return { epoch: epoch!, count: count!, formers };
}

/** True if `one` is newer. If only the counts differ, a server has lost what it acknowledged; then the larger count wins. */
export function isNewer(one: Partitioning, other: Partitioning): boolean {
  return one.epoch === other.epoch ? one.count > other.count : one.epoch > other.epoch;
}

export function newestOf(first: Partitioning, others: readonly Partitioning[]): Partitioning {
  return others.reduce((newest, other) => (isNewer(other, newest) ? other : newest), first);
}

/** The number of partitions that may hold messages. */
export function widthOf({ count, formers }: Partitioning): number {
  return Math.max(count, ...formers);
}

/** The partitions where a message with this id may be: first where a new one would go, then those of former numbers. */
export function placesOf(id: string, { count, formers }: Partitioning): number[] {
  const place = partitionOf(id, count);
  if (formers.length === 0) return [place];
  return [...new Set([place, ...formers.map((former) => partitionOf(id, former))])];
}

/** Returns the partitioning that results from changing the count. */
export function withCount({ epoch, count: former, formers }: Partitioning, count: number): Partitioning {
  const others = formers.filter((other) => other !== count && other !== former);
  return { epoch: epoch + 1, count, formers: [former, ...others] };
}

/** Returns the partitioning without former counts that have lost their meaning. */
export function withoutFormers({ epoch, count, formers }: Partitioning, gone: readonly number[]): Partitioning {
  return { epoch: epoch + 1, count, formers: formers.filter((former) => !gone.includes(former)) };
}

/**
 * The partitions with messages that a former count may have put elsewhere than the present one would. With the jump hash, those are the
 * partitions that a smaller count does not have or, if the count has risen, all former ones.
 */
export function partitionsLeftBy(former: number, { count }: Partitioning): number[] {
  const [begin, end] = former > count ? [count, former] : [0, former];
  return Array.from({ length: end - begin }, (_, i) => begin + i);
}
