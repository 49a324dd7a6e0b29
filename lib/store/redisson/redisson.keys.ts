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

/**
 * @param prefix - of what is kept beside Redisson's own keys, which have none
 * @param scope - stands before each part, to keep keys apart from those of the queue itself, Redisson's own included
 */
export function redissonKeys(prefix: string, queue: string, scope = ''): RedissonKeys {
  const key = (part: string) => `${prefix}:{${queue}}:${scope}${part}`;
  const shared = (name: string, part: string) => (scope === '' ? name : key(part));
  return {
    target: shared(queue, 'target'),
    timeouts: shared(`redisson_delay_queue_timeout:{${queue}}`, 'timeouts'),
    entries: shared(`redisson_delay_queue:{${queue}}`, 'entries'),
    channel: shared(`redisson_delay_queue_channel:{${queue}}`, 'channel'),
    offered: key('offered'),
    values: key('values'),
    sequence: key('sequence'),
  };
}
