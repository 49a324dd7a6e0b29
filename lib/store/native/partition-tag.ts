import { MAX_PARTITIONS } from '../../message/partition-of.js';
import { hashSlot, SLOTS } from '../../redis/cluster/hash-slot.js';

/** Long enough for a suffix to lead to every hash slot. */
const SUFFIX_LENGTH = 3;
const CHARACTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * Returns the hash tag of a partition's keys. Partition 0 has the same tag as a queue without partitions; the others have names that no
 * queue can have, such as `orders#3.0Fk`. The suffix is chosen so that the partitions are spaced evenly over the hash slots of a cluster,
 * however many there are: each new partition lies midway between two others. So all shards get the same number of them.
 */
export function partitionTag(queue: string, partition: number): string {
  if (partition === 0) return queue;
  const wanted = (hashSlot(queue) + (reverseBits(partition) * SLOTS) / MAX_PARTITIONS) % SLOTS;
  const name = `${queue}#${partition}.`;
  // A CRC is linear: replacing a suffix with another of the same length changes it by the difference of the suffixes' CRCs.
  return name + suffixOf(wanted ^ hashSlot(name + '\0'.repeat(SUFFIX_LENGTH)));
}

/** Returns the name of the queue whose partition has this hash tag. */
export function queueOfTag(tag: string): string {
  const end = tag.indexOf('#');
  return end < 0 ? tag : tag.slice(0, end);
}

/** Reverses the bits of a byte: 1 becomes 128, 2 becomes 64, 3 becomes 192. */
function reverseBits(byte: number): number {
  let reversed = 0;
  for (let bit = 0; bit < 8; bit++) reversed |= ((byte >> bit) & 1) << (7 - bit);
  return reversed;
}

let suffixes: string[] | undefined;

function suffixOf(slot: number): string {
  suffixes ??= findSuffixes();
  return suffixes[slot]!;
}

/** Finds the first suffix for each hash slot: about 50 ms, once in a process that needs it. */
function findSuffixes(): string[] {
  const found = new Array<string>(SLOTS);
  for (const first of CHARACTERS) {
    for (const second of CHARACTERS) {
      for (const third of CHARACTERS) {
        const suffix = first + second + third;
        found[hashSlot(suffix)] ??= suffix;
      }
    }
  }
  return found;
}
