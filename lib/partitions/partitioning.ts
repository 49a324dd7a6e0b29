import { partitionOf } from '../message/partition-of.js';

/** Over how many partitions a queue is spread, and has been. All processes and partitions go by the newest one that they know. */
export interface Partitioning {
  /** Rises with every change. */
  readonly epoch: number;
  /** How many partitions new messages are spread over. */
  readonly count: number;
  /** Over how many they were spread before, as long as messages may still be where those numbers put them. */
  readonly formers: readonly number[];
}

/** The partitioning of a queue that stores none: it never had several partitions. */
export const UNPARTITIONED: Partitioning = { epoch: 0, count: 1, formers: [] };

/** As it is stored: `2 16 8 4` is epoch 2, count 16, formers 8 and 4. */
export function formatPartitioning({ epoch, count, formers }: Partitioning): string {
  return [epoch, count, ...formers].join(' ');
}

/** @returns undefined if that is no partitioning */
export function parsePartitioning(text: string): Partitioning | undefined {
  if (!/^\d+( \d+)+$/.test(text)) return undefined;
  const [epoch, count, ...formers] = text.split(' ').map(Number);
  return { epoch: epoch!, count: count!, formers };
}

/** Equal epochs with different counts are only there if a server has lost what it acknowledged; then the larger count wins. */
export function isNewer(one: Partitioning, other: Partitioning): boolean {
  return one.epoch === other.epoch ? one.count > other.count : one.epoch > other.epoch;
}

export function newestOf(first: Partitioning, others: readonly Partitioning[]): Partitioning {
  return others.reduce((newest, other) => (isNewer(other, newest) ? other : newest), first);
}

/** In how many partitions there may be messages. */
export function widthOf({ count, formers }: Partitioning): number {
  return Math.max(count, ...formers);
}

/** Where a message with this id may be: where a new one belongs, then where it may have been put before. */
export function placesOf(id: string, { count, formers }: Partitioning): number[] {
  const place = partitionOf(id, count);
  if (formers.length === 0) return [place];
  return [...new Set([place, ...formers.map((former) => partitionOf(id, former))])];
}

/** The partitioning after the count has changed. */
export function withCount({ epoch, count: former, formers }: Partitioning, count: number): Partitioning {
  const others = formers.filter((other) => other !== count && other !== former);
  return { epoch: epoch + 1, count, formers: [former, ...others] };
}

/** The partitioning after some former counts have lost their meaning. */
export function withoutFormers({ epoch, count, formers }: Partitioning, gone: readonly number[]): Partitioning {
  return { epoch: epoch + 1, count, formers: formers.filter((former) => !gone.includes(former)) };
}

/**
 * The partitions where messages may be that a former count has put elsewhere than the present one. By the jump hash, these are
 * the ones that fewer partitions do not have, or, if there are more now, all that there were.
 */
export function partitionsLeftBy(former: number, { count }: Partitioning): number[] {
  const [begin, end] = former > count ? [count, former] : [0, former];
  return Array.from({ length: end - begin }, (_, i) => begin + i);
}
