import { type NativeKeys, nativeKeysUnder } from 'nestjs-delay-queue/layouts';

/** The Redis keys of one Redisson queue, and those of this package for it. All are in one hash slot of a cluster. */
export interface RedissonKeys {
  /** LIST of the due values: Redisson's `RBlockingQueue`. */
  readonly target: string;
  /** ZSET entry → due ms. */
  readonly timeouts: string;
  /** LIST of the same entries in the order of offers. */
  readonly entries: string;
  /** Channel: the due time of an offer that became the earliest, as decimal text. */
  readonly channel: string;
  /** HASH id → record, of messages offered here that no consumer has taken. */
  readonly offered: string;
  /** HASH digest of the value → id, of these messages. */
  readonly values: string;
  /** ZSET of digest of the value, due time, id of the entry and id of the message, of those whose digest leads to another one. */
  readonly repeated: string;
  /** STRING, the number of the latest entry. */
  readonly sequence: string;
}

/** The names of a queue. */
export interface RedissonQueueName {
  /** The prefix of this package's keys; Redisson's own keys have none. */
  readonly prefix: string;
  readonly queue: string;
  /** The queue's name in Redisson; default: `queue`. */
  readonly redissonName?: string;
}

/** Makes all keys of such a queue, including those of the native store. */
export function redissonKeys({ prefix, queue, redissonName = queue }: RedissonQueueName): RedissonKeys & NativeKeys {
  const tagged = redissonName.includes('{') ? redissonName : `{${redissonName}}`;
  const [hashTag] = /\{[^{}]+\}/.exec(tagged)!;
  // Queue names contain no `@`, so the keys of queues that share a hash tag never collide.
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
    repeated: `${root}repeated`,
    sequence: `${root}sequence`,
  };
}
