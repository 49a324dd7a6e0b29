import { MAX_PARTITIONS } from '../../message/partition-of.js';
import { hashSlot, SLOTS } from '../../redis/cluster/hash-slot.js';

/** As many characters as can lead to any slot. */
const SUFFIX_LENGTH = 3;
const CHARACTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * The hash tag of the keys of a partition. Partition 0 is the queue as it would be without partitions; the others have names that
 * no queue can have, such as `orders#3.0Fk`. The suffix is chosen so that the partitions are evenly spaced over the slots of a
 * cluster, whatever their number: each one that is added lies in the middle between two others. So all shards get equally many.
 */
export function partitionTag(queue: string, partition: number): string {
  if (partition === 0) return queue;
  const wanted = (hashSlot(queue) + (reverseBits(partition) * SLOTS) / MAX_PARTITIONS) % SLOTS;
  const name = `${queue}#${partition}.`;
  // A CRC is linear: with another suffix of the same length, it differs by what the CRCs of the two suffixes differ by.
  return name + suffixOf(wanted ^ hashSlot(name + '\0'.repeat(SUFFIX_LENGTH)));
}

/** The name of the queue whose partition has this hash tag. */
export function queueOfTag(tag: string): string {
  const end = tag.indexOf('#');
  return end < 0 ? tag : tag.slice(0, end);
}

/** The bits of a byte in the reverse order: 1 is 128, 2 is 64, 3 is 192. */
function reverseBits(byte: number): number {
  let reversed = 0;
  for (let bit = 0; bit < 8; bit++) reversed |= ((byte >> bit) & 1) << (7 - bit);
  return reversed;
}

let suffixes: string[] | undefined;

/** A suffix that has this slot. */
function suffixOf(slot: number): string {
  suffixes ??= findSuffixes();
  return suffixes[slot]!;
}

/** For each slot, the first suffix that has it: about 50 ms, once in a process that needs it. */
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
