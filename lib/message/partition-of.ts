import { hash } from 'node:crypto';

/** The maximum number of partitions of a queue. */
export const MAX_PARTITIONS = 256;

/**
 * Returns the partition of a message: the jump consistent hash of the first 64 bits of its id's SHA-256. All processes agree on it without
 * communicating. When partitions are added, a message either stays or belongs to one of the new ones.
 *
 * Only the part between an id's first pair of braces counts, as in the keys of a Redis Cluster: ids that share it share a partition.
 */
export function partitionOf(id: string, partitions: number): number {
  if (partitions === 1) return 0;
  return jumpHash(hash('sha256', tagOf(id), 'buffer').readBigUInt64BE(), partitions);
}

/** Returns the part of an id between its first braces, or the whole id if that part is empty or missing. */
export function tagOf(id: string): string {
  const begin = id.indexOf('{') + 1;
  const end = begin === 0 ? -1 : id.indexOf('}', begin);
  return end > begin ? id.slice(begin, end) : id;
}

/** Lamping and Veach, "A Fast, Minimal Memory, Consistent Hash Algorithm", 2014. */
function jumpHash(key: bigint, buckets: number): number {
  let bucket = 0;
  for (let next = 0; next < buckets;) {
    bucket = next;
    key = BigInt.asUintN(64, key * 2862933555777941757n + 1n);
    next = Math.floor((bucket + 1) * (2 ** 31 / (Number(key >> 33n) + 1)));
  }
  return bucket;
}
