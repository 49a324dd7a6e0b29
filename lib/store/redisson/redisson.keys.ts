import { type NativeKeys, nativeKeysUnder } from '../native/native.keys.js';

/** The Redis keys of one queue of Redisson's, and what is kept beside them. All are in one slot of a cluster. */
export interface RedissonKeys {
  /** LIST of values that are due: Redisson's `RBlockingQueue`. */
  readonly target: string;
  /** ZSET entry → due ms. */
  readonly timeouts: string;
  /** LIST of the same entries in the order of offers. */
  readonly entries: string;
  /** Channel: the due time of an offer that became the earliest, as decimal text. */
  readonly channel: string;
  /** ZSET id → due ms, less 10¹⁵ once claims passed it over, of what was offered here and no consumer has taken. */
  readonly offered: string;
  /** ZSET of digest of the value, due time, id of the entry and id of the message, for those of `offered` that claims passed over. */
  readonly values: string;
  /** STRING, the number of the latest entry. */
  readonly sequence: string;
}

/** Which queue it is. */
export interface RedissonQueueName {
  /** Of what is kept beside Redisson's own keys, which have none. */
  readonly prefix: string;
  readonly queue: string;
  /** As Redisson knows the queue; default: the same. */
  readonly redissonName?: string;
}

/** All keys of such a queue, those of the native bookkeeping included. */
export function redissonKeys({ prefix, queue, redissonName = queue }: RedissonQueueName): RedissonKeys & NativeKeys {
  const tagged = redissonName.includes('{') ? redissonName : `{${redissonName}}`;
  const [hashTag] = /\{[^}]+\}/.exec(tagged)!;
  // No queue's name has an `@`, so keys of queues that share a hash tag never meet.
  const space = redissonName === queue ? ':' : `@${queue}:`;
  const root = `${prefix}:${hashTag}${space}`;
  return {
    ...nativeKeysUnder(root),
    target: redissonName,
    timeouts: `redisson_delay_queue_timeout:${tagged}`,
    entries: `redisson_delay_queue:${tagged}`,
    channel: `redisson_delay_queue_channel:${tagged}`,
    offered: `${root}offered`,
    values: `${root}values`,
    sequence: `${root}sequence`,
  };
}
