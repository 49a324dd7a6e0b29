import { MAX_PARTITIONS } from '../../message/partition-of.js';
import { hashSlot, SLOTS } from '../../redis/cluster/hash-slot.js';

const ENDINGS = {
  /** ZSET id → due time, ms. */
  delayed: 'delayed',
  /** HASH id → record, for every message in any state. */
  messages: 'messages',
  /** LIST of the ids of ready messages. */
  ready: 'ready',
  /** HASH token of a claim → ids of the messages that it holds, with a line feed before, between and after the ids. */
  claims: 'claims',
  /** ZSET token of a claim → end of its lease, ms; the same tokens as in `claims`. */
  leases: 'leases',
  /** HASH id → number of failed attempts, for messages that have any. */
  attempts: 'attempts',
  /** ZSET id → time of death, ms. */
  dead: 'dead',
  /** HASH id → error, JSON; the same ids as in `dead`. */
  errors: 'errors',
  /** HASH id → the follower of the active message with that id: '+' and a delay, or '@' and a time, in ms; a line feed; and the body. */
  followers: 'followers',
  /** LIST, the wake-up signal: at most one element. */
  wake: 'wake',
  /** STRING, present while the queue is paused. */
  paused: 'paused',
  /** STRING, how much of the queue's rate claims have used (see `lua/modules/rate.lua`); it expires. */
  rate: 'rate',
  /** With a token appended: STRING, present if another claim has superseded the token's, which then takes nothing more; it expires. */
  ended: 'ended:',
  /** STRING, the queue's partitioning: its current and former numbers of partitions. Absent if it has never had several. */
  partitions: 'partitions',
  /** HASH id → 1, of repeating messages that handlers declare. Survives the messages' cancellation, so it is lost only with the data. */
  declared: 'declared',
  /** ZSET id → the time at which the message with this id was handled, ms, for the ids that the queue keeps. */
  kept: 'kept',
  /** ZSET id → minus the time at which the message was handled, ms, for the messages that the queue remembers. */
  handled: 'handled',
  /** HASH id → what is remembered of the message (see `lua/remember.lua`); the same ids as in `handled`. */
  history: 'history',
  /** Channel on which earlier due times, transfers and aborts are announced. */
  due: 'due',
};

/** The Redis keys of one queue, or of one of its partitions. */
export type NativeKeys = { readonly [Part in keyof typeof ENDINGS]: string };

/**
 * Returns a queue's keys. The braces make the queue's name the hash tag, so a cluster keeps all keys in one hash slot.
 * @param partition - its number; partition 0 has the same keys as a queue without partitions
 */
export function nativeKeys(prefix: string, queue: string, partition = 0): NativeKeys {
  return nativeKeysUnder(`${prefix}:{${partitionTag(queue, partition)}}:`);
}

/** @param root - the start of each key, including a hash tag */
export function nativeKeysUnder(root: string): NativeKeys {
  return Object.fromEntries(Object.entries(ENDINGS).map(([part, ending]) => [part, root + ending])) as NativeKeys;
}

/** The extra keys for messages with groups. `lua/modules/groups.lua` describes their contents. */
const GROUP_ENDINGS = {
  /** HASH group → how many of its permits are taken, and how many of them by ready messages. */
  permits: 'lanes',
  /** With a group's name appended: LIST of the ids in its backlog. */
  backlog: 'line:',
  /** HASH id → group, of delayed messages that keep their permits. */
  held: 'held',
  /** STRING, the time at which the consumer that waits for the queue's rate claims again; it expires. */
  awaited: 'awaited',
  /** With a group's name appended: STRING, how much of its rate the group's claims have used (see `lua/modules/rate.lua`); it expires. */
  rates: 'rate:',
};

export type GroupKeys = NativeKeys & { readonly [Part in keyof typeof GROUP_ENDINGS]: string };

/** Returns the keys for messages with groups. Only the pause and the rate are shared with the queue's other messages. */
export function groupKeys(prefix: string, queue: string): GroupKeys {
  const ofQueue = nativeKeys(prefix, queue);
  const root = `${prefix}:{${queue}}:lane:`;
  const own = Object.fromEntries(Object.entries(GROUP_ENDINGS).map(([part, ending]) => [part, root + ending]));
  return { ...nativeKeysUnder(root), paused: ofQueue.paused, rate: ofQueue.rate, ...own } as GroupKeys;
}

/** Number of characters in a suffix, enough for every hash slot to have a suffix. */
const SUFFIX_LENGTH = 3;
const CHARACTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * Returns the hash tag of a partition's keys. Partition 0 shares the tag of a queue without partitions. Others have names that no queue can
 * have, such as `orders#3.0Fk`. The suffix spaces partitions evenly over a cluster's hash slots, however many partitions there are: each
 * new one lies midway between two others. So shards with equally many hash slots get about equally many partitions.
 */
export function partitionTag(queue: string, partition: number): string {
  if (partition === 0) return queue;
  const wanted = (hashSlot(queue) + (reverseBits(partition) * SLOTS) / MAX_PARTITIONS) % SLOTS;
  const name = `${queue}#${partition}.`;
  // A CRC is linear: replacing a suffix with another of the same length changes the CRC by the difference of the suffixes' CRCs.
  return name + suffixOf(wanted ^ hashSlot(name + '\0'.repeat(SUFFIX_LENGTH)));
}

/** Returns the queue that has a partition with this hash tag. */
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

/** Finds the first suffix for each hash slot. Takes about 50 ms, once in a process that needs suffixes. */
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
