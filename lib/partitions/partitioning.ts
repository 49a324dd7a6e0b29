import { partitionOf } from '../message/partition-of.js';

/** A queue's current and former numbers of partitions. All processes and partitions use the newest partitioning that they know. */
export interface Partitioning {
  /** Increases with every change. */
  readonly epoch: number;
  /** The number of partitions for new messages. */
  readonly count: number;
  /** Former numbers of partitions, as long as they may still decide where a message is. */
  readonly formers: readonly number[];
}

/** The partitioning of a queue that stores none, because it has never had several partitions. */
export const UNPARTITIONED: Partitioning = { epoch: 0, count: 1, formers: [] };

/** Formats a partitioning for storage: `2 16 8 4` is epoch 2, count 16, formers 8 and 4. */
export function formatPartitioning({ epoch, count, formers }: Partitioning): string {
  return [epoch, count, ...formers].join(' ');
}

/** Parses a stored partitioning. Returns undefined if the string is not one. */
export function parsePartitioning(text: string): Partitioning | undefined {
  if (!/^\d+( \d+)+$/.test(text)) return undefined;
  const [epoch, count, ...formers] = text.split(' ').map(Number);
  return { epoch: epoch!, count: count!, formers };
}

/** True if `one` is newer. If only the counts differ, a server has lost a change that it acknowledged, and the larger count wins. */
export function isNewer(one: Partitioning, other: Partitioning): boolean {
  return one.epoch === other.epoch ? one.count > other.count : one.epoch > other.epoch;
}

export function newestOf(first: Partitioning, others: readonly Partitioning[]): Partitioning {
  return others.reduce((newest, other) => (isNewer(other, newest) ? other : newest), first);
}

/** Returns the number of partitions that may hold messages. */
export function widthOf({ count, formers }: Partitioning): number {
  return Math.max(count, ...formers);
}

/** Returns the partitions where a message with this id may be: first where a new one would go, then those of former counts. */
export function placesOf(id: string, { count, formers }: Partitioning): number[] {
  const place = partitionOf(id, count);
  if (formers.length === 0) return [place];
  return [...new Set([place, ...formers.map((former) => partitionOf(id, former))])];
}

/** Returns the partitioning that results from changing the number of partitions to `count`. */
export function withCount({ epoch, count: former, formers }: Partitioning, count: number): Partitioning {
  const others = formers.filter((other) => other !== count && other !== former);
  return { epoch: epoch + 1, count, formers: [former, ...others] };
}

/** Returns the partitioning without former counts that no longer matter. */
export function withoutFormers({ epoch, count, formers }: Partitioning, gone: readonly number[]): Partitioning {
  return { epoch: epoch + 1, count, formers: formers.filter((former) => !gone.includes(former)) };
}

/**
 * Returns the partitions that may hold messages for which the current count would choose another partition than the former count did. With
 * the jump hash, a lower count affects only the partitions that it lacks, and a higher count affects all former ones.
 */
export function partitionsLeftBy(former: number, { count }: Partitioning): number[] {
  const [begin, end] = former > count ? [count, former] : [0, former];
  return Array.from({ length: end - begin }, (_, i) => begin + i);
}
