import { MAX_PARTITIONS } from '../../message/partition-of.js';
import { hashSlot, SLOTS } from '../../redis/cluster/hash-slot.js';

const ENDINGS = {
  /** ZSET id → due time, ms. */
  delayed: 'delayed',
  /** HASH id → record, for every message in any state. */
  messages: 'messages',
  /** LIST of ids. */
  ready: 'ready',
  /** HASH token of a claim → ids of the messages that it holds, with a line feed before, between and after the ids. */
  claims: 'claims',
  /** ZSET token of a claim → end of its lease, ms; the same tokens as in `claims`. */
  leases: 'leases',
  /** HASH id → failed attempts, for messages that have any. */
  attempts: 'attempts',
  /** ZSET id → time of death, ms. */
  dead: 'dead',
  /** HASH id → error, JSON; the same ids as in `dead`. */
  errors: 'errors',
  /**
   * HASH id → the follower of the active message with that id: '+' and a delay, or '@' and a time, in ms; then a line feed and the body.
   */
  followers: 'followers',
  /** LIST, the wake-up signal: at most one element. */
  wake: 'wake',
  /** STRING, present while the queue is paused. */
  paused: 'paused',
  /** STRING, what claims have taken of the queue's rate, as `lua/modules/rate.lua` describes; it expires. */
  rate: 'rate',
  /** With a token appended: STRING, present if another claim has replaced that token's claim, which can take nothing more; it expires. */
  ended: 'ended:',
  /** STRING, the queue's partitioning: how many partitions it has and had; absent: it never had several. */
  partitions: 'partitions',
  /** HASH id → 1, of messages whose repeats handlers have declared. It outlives a cancel, so it is lost only with the data. */
  declared: 'declared',
  /** Channel of earlier due times, transfers and aborts. */
  due: 'due',
};

/** The Redis keys of one queue, or of one of its partitions. */
export type NativeKeys = { readonly [Part in keyof typeof ENDINGS]: string };

/**
 * Makes the keys. The braces make the queue's name the hash tag, so a cluster keeps all keys in one hash slot.
 * @param partition - each has its own hash tag; partition 0 has the same one as a queue without partitions
 */
export function nativeKeys(prefix: string, queue: string, partition = 0): NativeKeys {
  return nativeKeysUnder(`${prefix}:{${partitionTag(queue, partition)}}:`);
}

/** @param root - the beginning of each key, including a hash tag */
export function nativeKeysUnder(root: string): NativeKeys {
  return Object.fromEntries(Object.entries(ENDINGS).map(([part, ending]) => [part, root + ending])) as NativeKeys;
}

/** The additional keys of messages with groups; `lua/modules/groups.lua` describes their contents. */
const GROUP_ENDINGS = {
  /** HASH group → how many of its permits are taken. */
  permits: 'lanes',
  /** With a group's name appended: LIST of the ids in its backlog. */
  backlog: 'line:',
  /** HASH id → '1', of delayed messages that keep their permits. */
  held: 'held',
  /** STRING, the time at which the consumer that waits for the queue's rate claims again; it expires. */
  awaited: 'awaited',
};

export type GroupKeys = NativeKeys & { readonly [Part in keyof typeof GROUP_ENDINGS]: string };

/** Makes the keys, which processes that know nothing of groups leave alone. The pause and the rate belong to the whole queue. */
export function groupKeys(prefix: string, queue: string): GroupKeys {
  const ofQueue = nativeKeys(prefix, queue);
  const root = `${prefix}:{${queue}}:lane:`;
  const own = Object.fromEntries(Object.entries(GROUP_ENDINGS).map(([part, ending]) => [part, root + ending]));
  return { ...nativeKeysUnder(root), paused: ofQueue.paused, rate: ofQueue.rate, ...own } as GroupKeys;
}

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
