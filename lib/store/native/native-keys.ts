import { partitionTag } from './partition-tag.js';

/**
 * The Redis keys of one queue, or of one of its partitions. The braces make its name the hash tag, so a cluster keeps all keys in
 * one slot.
 */
export interface NativeKeys {
  /** ZSET id → due ms. */
  readonly delayed: string;
  /** HASH id → record, for every message in any state. */
  readonly messages: string;
  /** LIST of ids. */
  readonly ready: string;
  /** HASH token of a claim → ids of the messages that it holds, with a line feed before, between and after the ids. */
  readonly claims: string;
  /** ZSET token of a claim → end of its lease, ms; the same tokens as in `claims`. */
  readonly leases: string;
  /** HASH id → failed attempts, for messages that have any. */
  readonly attempts: string;
  /** ZSET id → time of death, ms. */
  readonly dead: string;
  /** HASH id → error, JSON; the same ids as in `dead`. */
  readonly errors: string;
  /** LIST, the doorbell: at most one token. */
  readonly wake: string;
  /** STRING, present while the queue is paused. */
  readonly paused: string;
  /** STRING, what claims have taken of the queue's rate; `lua/include/rate.lua` describes it. It expires. */
  readonly rate: string;
  /**
   * Beginning of the names of STRINGs, one for each token of a claim that can take nothing any more because another claim
   * replaced it. They expire.
   */
  readonly ended: string;
  /** STRING, the record of how many partitions the queue has and had; absent: it never had several. */
  readonly partitions: string;
  /** Channel of earlier due times, and of transfers. */
  readonly due: string;
}

/** @param partition - the keys of each are in one slot; partition 0 has those of a queue without partitions */
export function nativeKeys(prefix: string, queue: string, partition = 0): NativeKeys {
  return nativeKeysUnder(`${prefix}:{${partitionTag(queue, partition)}}:`);
}

/** @param root - the beginning of each key, including a hash tag */
export function nativeKeysUnder(root: string): NativeKeys {
  const key = (part: string) => root + part;
  return {
    delayed: key('delayed'),
    messages: key('messages'),
    ready: key('ready'),
    claims: key('claims'),
    leases: key('leases'),
    attempts: key('attempts'),
    dead: key('dead'),
    errors: key('errors'),
    wake: key('wake'),
    paused: key('paused'),
    rate: key('rate'),
    ended: key('ended:'),
    partitions: key('partitions'),
    due: key('due'),
  };
}
