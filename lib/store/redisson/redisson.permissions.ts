import type { NativeKeys } from '../native/native.keys.js';
import type { Permissions } from '../redis/permissions.js';
import type { RedissonKeys } from './redisson.keys.js';

/** What the scripts run on each key, and what is sent beside them: `BLPOP`, `BLMOVE` and `SUBSCRIBE`. */
export const redissonPermissions: Permissions<RedissonKeys & NativeKeys> = {
  target: ['BLMOVE', 'LLEN', 'LPOP', 'LPOS', 'LRANGE', 'LREM', 'RPUSH', 'UNLINK'],
  timeouts: ['UNLINK', 'ZADD', 'ZCARD', 'ZCOUNT', 'ZMSCORE', 'ZRANGE', 'ZREM', 'ZSCAN', 'ZSCORE'],
  entries: ['LINDEX', 'LLEN', 'LPOP', 'LRANGE', 'LREM', 'LSET', 'RPOP', 'RPUSH', 'UNLINK'],
  channel: ['PUBLISH', 'SUBSCRIBE'],
  offered: ['UNLINK', 'ZADD', 'ZCARD', 'ZCOUNT', 'ZRANGE', 'ZREM', 'ZSCORE'],
  values: ['UNLINK', 'ZADD', 'ZCARD', 'ZRANGE', 'ZREM'],
  sequence: ['GET', 'SET'],
  delayed: ['UNLINK', 'ZADD', 'ZCARD', 'ZRANGE', 'ZREM', 'ZREMRANGEBYRANK', 'ZSCORE'],
  messages: ['HDEL', 'HGET', 'HLEN', 'HMGET', 'HSCAN', 'HSET', 'UNLINK'],
  ready: ['LLEN', 'LPOP', 'LPUSH', 'LRANGE', 'LREM', 'RPUSH', 'UNLINK'],
  claims: ['HDEL', 'HGET', 'HGETALL', 'HLEN', 'HSET', 'UNLINK'],
  leases: ['UNLINK', 'ZADD', 'ZCARD', 'ZRANGE', 'ZREM', 'ZSCORE'],
  attempts: ['HDEL', 'HGET', 'HLEN', 'HMGET', 'HSET', 'UNLINK'],
  dead: ['UNLINK', 'ZADD', 'ZCARD', 'ZCOUNT', 'ZRANGE', 'ZRANK', 'ZREM', 'ZSCORE'],
  errors: ['HDEL', 'HLEN', 'HMGET', 'HSET', 'UNLINK'],
  wake: ['BLPOP', 'DEL', 'LLEN', 'RPUSH', 'UNLINK'],
  paused: ['DEL', 'GET', 'SET'],
  ended: ['GET', 'SET'],
  mover: ['GET', 'SET', 'UNLINK'],
  due: ['PUBLISH', 'SUBSCRIBE'],
};
