import { partitionTag } from './partition-tag.js';

/** What the names of the keys end with. */
const ENDINGS = {
  /** ZSET id → due ms. */
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
   * HASH id → '+' and a delay or '@' and an instant in ms, a line feed, and a body, for messages that wait until an active one of the same
   * id is settled.
   */
  followers: 'followers',
  /** LIST, the wake-up signal: at most one element. */
  wake: 'wake',
  /** STRING, present while the queue is paused. */
  paused: 'paused',
  /** STRING, what claims have taken of the queue's rate; `lua/modules/rate.lua` describes it. It expires. */
  rate: 'rate',
  /**
   * Beginning of the names of STRINGs, one for each token of a claim that can take nothing any more because another claim
   * replaced it. They expire.
   */
  ended: 'ended:',
  /** STRING, the queue's partitioning: how many partitions it has and had; absent: it never had several. */
  partitions: 'partitions',
  /** HASH id → 1, of messages whose repeats handlers have declared. It stays when they are cancelled, so it is lost only with the data. */
  declared: 'declared',
  /** Channel of earlier due times, and of transfers. */
  due: 'due',
};

/** The Redis keys of one queue, or of one of its partitions. */
export type NativeKeys = { readonly [Part in keyof typeof ENDINGS]: string };

/**
 * The braces make the name of the queue the hash tag, so a cluster keeps all keys in one slot.
 *
 * @param partition - each has a hash tag of its own; partition 0 has that of a queue without partitions
 */
export function nativeKeys(prefix: string, queue: string, partition = 0): NativeKeys {
  return nativeKeysUnder(`${prefix}:{${partitionTag(queue, partition)}}:`);
}

/** @param root - the beginning of each key, including a hash tag */
export function nativeKeysUnder(root: string): NativeKeys {
  return Object.fromEntries(Object.entries(ENDINGS).map(([part, ending]) => [part, root + ending])) as NativeKeys;
}
