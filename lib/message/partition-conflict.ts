/** What keeps a queue's limits from being applied to several partitions. */
type PartitionConflict = 'global concurrency' | 'rate with groups' | 'low rate';

/** The limits to check; null or absent: none. */
interface CheckedLimits {
  readonly rate?: { readonly max: number } | null | undefined;
  readonly globalConcurrency?: number | null | undefined;
}

/**
 * Checks limits against a number of partitions, each of which gets an equal share of the rate. No claim sees the messages of all partitions,
 * and all messages with groups are in one. Returns undefined if the limits can be applied.
 */
export function partitionConflict(
  { rate, globalConcurrency }: CheckedLimits,
  { partitions, hasGroups }: { readonly partitions: number; readonly hasGroups: boolean },
): PartitionConflict | undefined {
  if (partitions === 1) return undefined;
  if (globalConcurrency) return 'global concurrency';
  if (rate && hasGroups) return 'rate with groups';
  return rate && rate.max < partitions ? 'low rate' : undefined;
}
