import { partitionOf } from '../../message/partition-of.js';

/** Over how many partitions a queue is spread, and has been. All processes and partitions go by the newest one that they know. */
export interface PartitionRecord {
  /** Rises with every change. */
  readonly epoch: number;
  /** How many partitions new messages are spread over. */
  readonly count: number;
  /** Over how many they were spread before, as long as messages may still be where those numbers put them. */
  readonly formers: readonly number[];
}

/** The record of a queue that has none: it never had several partitions. */
export const FIRST_RECORD: PartitionRecord = { epoch: 0, count: 1, formers: [] };

/** As it is kept: `2 16 8 4` is epoch 2, count 16, formers 8 and 4. */
export function formatRecord({ epoch, count, formers }: PartitionRecord): string {
  return [epoch, count, ...formers].join(' ');
}

/** @returns undefined if that is no record */
export function parseRecord(text: string): PartitionRecord | undefined {
  if (!/^\d+( \d+)+$/.test(text)) return undefined;
  const [epoch, count, ...formers] = text.split(' ').map(Number);
  return { epoch: epoch!, count: count!, formers };
}

/** Equal epochs with different counts are only there if a server has lost what it acknowledged; then the larger count wins. */
export function isNewer(one: PartitionRecord, other: PartitionRecord): boolean {
  return one.epoch === other.epoch ? one.count > other.count : one.epoch > other.epoch;
}

/** In how many partitions there may be messages. */
export function widthOf({ count, formers }: PartitionRecord): number {
  return Math.max(count, ...formers);
}

/** Where a message with this id may be: where a new one belongs, then where it may have been put before. */
export function placesOf(id: string, { count, formers }: PartitionRecord): number[] {
  const place = partitionOf(id, count);
  if (formers.length === 0) return [place];
  return [...new Set([place, ...formers.map((former) => partitionOf(id, former))])];
}

/** The record after the count has changed. */
export function withCount({ epoch, count: former, formers }: PartitionRecord, count: number): PartitionRecord {
  const others = formers.filter((other) => other !== count && other !== former);
  return { epoch: epoch + 1, count, formers: [former, ...others] };
}

/** The record after some former counts have lost their meaning. */
export function withoutFormers({ epoch, count, formers }: PartitionRecord, gone: readonly number[]): PartitionRecord {
  return { epoch: epoch + 1, count, formers: formers.filter((former) => !gone.includes(former)) };
}

/**
 * The partitions where messages may be that a former count has put elsewhere than the present one. By the jump hash, these are
 * the ones that fewer partitions do not have, or, if there are more now, all that there were.
 */
export function partitionsLeftBy(former: number, { count }: PartitionRecord): number[] {
  const [begin, end] = former > count ? [count, former] : [0, former];
  return Array.from({ length: end - begin }, (_, i) => begin + i);
}
