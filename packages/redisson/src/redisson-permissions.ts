import type { RedissonKeys } from './redisson-keys.js';

/** The commands that the scripts run on each key, and `BLMOVE` and `SUBSCRIBE`. */
export const redissonPermissions = {
  target: ['BLMOVE', 'LLEN', 'LPOP', 'LPOS', 'LRANGE', 'LREM', 'RPUSH', 'UNLINK'],
  timeouts: ['UNLINK', 'ZADD', 'ZCARD', 'ZCOUNT', 'ZMSCORE', 'ZRANGE', 'ZREM', 'ZSCAN', 'ZSCORE'],
  entries: ['LINDEX', 'LLEN', 'LPOP', 'LRANGE', 'LREM', 'LSET', 'RPOP', 'RPUSH', 'UNLINK'],
  channel: ['PUBLISH', 'SUBSCRIBE'],
  offered: ['HDEL', 'HGET', 'HLEN', 'HMGET', 'HRANDFIELD', 'HSET', 'UNLINK'],
  values: ['HDEL', 'HGET', 'HLEN', 'HMGET', 'HSET', 'UNLINK'],
  repeated: ['UNLINK', 'ZADD', 'ZCARD', 'ZRANGE', 'ZREM'],
  sequence: ['GET', 'SET'],
} satisfies Record<keyof RedissonKeys, readonly string[]>;
