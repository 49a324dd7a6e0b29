import type { NeededCommand, Permissions } from '../../redis/check/permissions.js';
import type { GroupKeys, NativeKeys } from './native-keys.js';

/** The commands that every layout needs on these keys. */
export const nativePermissions: Permissions<NativeKeys> = {
  delayed: ['UNLINK', 'ZADD', 'ZCARD', 'ZRANGE', 'ZREM', 'ZREMRANGEBYRANK', 'ZSCORE'],
  messages: ['HDEL', 'HGET', 'HLEN', 'HMGET', 'HSCAN', 'HSET', 'UNLINK'],
  ready: ['LLEN', 'LPOP', 'LPUSH', 'LRANGE', 'LREM', 'RPUSH', 'UNLINK'],
  claims: ['HDEL', 'HGET', 'HGETALL', 'HLEN', 'HSET', 'UNLINK'],
  leases: ['UNLINK', 'ZADD', 'ZCARD', 'ZRANGE', 'ZREM', 'ZSCORE'],
  attempts: ['EXISTS', 'HDEL', 'HGET', 'HLEN', 'HMGET', 'HSET', 'UNLINK'],
  dead: ['UNLINK', 'ZADD', 'ZCARD', 'ZRANGE', 'ZREM', 'ZSCORE'],
  errors: ['HDEL', 'HLEN', 'HMGET', 'HSET', 'UNLINK'],
  followers: ['EXISTS', 'HDEL', 'HLEN', 'HMGET', 'HSCAN'],
  wake: ['BLPOP', 'DEL', 'LLEN', 'RPUSH', 'UNLINK'],
  paused: ['DEL', 'GET', 'SET'],
  ended: ['GET', 'SET'],
  rate: ['GET', 'SET'],
  partitions: [],
  declared: [],
  due: ['PUBLISH', 'SUBSCRIBE'],
};

/** Names what a queue of any layout also needs in a cluster. */
export function neededInCluster({ due }: NativeKeys): NeededCommand[] {
  return ['SPUBLISH', 'SSUBSCRIBE'].map((name) => ({ name, target: due }));
}

/** The commands that the scripts run on each key, and those sent directly: `BLPOP` and `SUBSCRIBE`. */
export const partitionPermissions: Permissions<NativeKeys> = {
  ...nativePermissions,
  delayed: [...nativePermissions.delayed, 'EXISTS', 'ZCOUNT'],
  messages: [...nativePermissions.messages, 'EXISTS', 'HEXISTS', 'HSETNX'],
  claims: [...nativePermissions.claims, 'HSETNX'],
  leases: [...nativePermissions.leases, 'EXISTS'],
  ready: [...nativePermissions.ready, 'EXISTS'],
  followers: [...nativePermissions.followers, 'HSET', 'UNLINK'],
  paused: [...nativePermissions.paused, 'EXISTS'],
  ended: [...nativePermissions.ended, 'EXISTS'],
  partitions: ['EXISTS', 'GET', 'SET'],
  declared: ['HEXISTS', 'HSET'],
};

/** The commands that scripts run on each key of messages with groups, which have no partitions, and those sent directly. */
export const groupPermissions: Permissions<GroupKeys> = {
  ...nativePermissions,
  delayed: [...nativePermissions.delayed, 'ZCOUNT'],
  messages: [...nativePermissions.messages, 'HEXISTS'],
  followers: [...nativePermissions.followers, 'HSET', 'UNLINK'],
  partitions: [],
  ready: [...nativePermissions.ready, 'LINSERT'],
  permits: ['HDEL', 'HEXISTS', 'HKEYS', 'HLEN', 'HMGET', 'HSCAN', 'HSET', 'UNLINK'],
  backlog: ['LINDEX', 'LLEN', 'LPOP', 'LRANGE', 'LREM', 'RPUSH', 'UNLINK'],
  held: ['HDEL', 'HGET', 'HKEYS', 'HLEN', 'HMGET', 'HSET', 'UNLINK'],
  awaited: ['GET', 'SET'],
};
