import { nativeCodec } from '../../message/codec/native-codec.js';
import { isFamily } from '../../message/queue-name.js';
import type { Layout } from '../layout.js';
import { type NeededCommand, neededCommands, type Permissions } from '../../redis/check/permissions.js';
import { groupKeys, type GroupKeys, nativeKeys, type NativeKeys } from './native-keys.js';
import { neededByFamily } from './native-directory.js';
import { PlainRouter } from '../router.js';
import { nativeLibrary } from './native-library.js';
import { NativeMessageStore } from './native-store.js';

export const nativeLayout: Layout = {
  name: 'native',
  can: {
    headers: true,
    types: true,
    partitions: true,
    families: true,
    expiry: true,
    followers: true,
    changes: true,
    debounce: true,
    groups: true,
    globalConcurrency: true,
    repeats: true,
    retries: true,
    encryption: true,
    history: true,
    idsFor: true,
    otherConsumers: false,
    severalQueues: true,
  },
  codec: nativeCodec,
  library: nativeLibrary,

  open: (connections, { prefix, queue, limitsOf }) =>
    new PlainRouter(new NativeMessageStore(connections, { keys: nativeKeys(prefix, queue), limits: limitsOf(1) })),

  neededCommands({ prefix, queue, partitions, groups, history, idsFor, isCluster }) {
    const more = (keys: NativeKeys) => [
      ...(isCluster ? neededInCluster(keys) : []),
      ...(history ? neededCommands(historyPermissions, keys) : []),
      ...(idsFor ? neededCommands(keptIdPermissions, keys) : []),
    ];
    const ofQueue = Array.from({ length: partitions }, (_, partition) => {
      const keys = nativeKeys(prefix, queue, partition);
      return [...neededCommands(partitionPermissions, keys), ...more(keys)];
    }).flat();
    const keysOfGroups = groupKeys(prefix, queue);
    return [
      ...ofQueue,
      ...(groups ? [...neededCommands(groupPermissions, keysOfGroups), ...more(keysOfGroups)] : []),
      ...(groups?.rate ? neededCommands(groupRatePermissions, keysOfGroups) : []),
      ...(isFamily(queue) ? neededByFamily(prefix, { name: queue, hasGroups: Boolean(groups) }) : []),
    ];
  },
};

/** The commands that every layout needs on these keys. */
export const nativePermissions: Permissions<NativeKeys> = {
  delayed: ['UNLINK', 'ZADD', 'ZCARD', 'ZCOUNT', 'ZRANGE', 'ZREM', 'ZREMRANGEBYRANK', 'ZSCORE'],
  messages: ['HDEL', 'HGET', 'HLEN', 'HMGET', 'HSCAN', 'HSET', 'UNLINK'],
  ready: ['LLEN', 'LPUSH', 'LRANGE', 'LREM', 'LTRIM', 'RPUSH', 'UNLINK'],
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
  kept: [],
  handled: [],
  history: [],
  due: ['PUBLISH', 'SUBSCRIBE'],
};

/** The commands that show and clear a queue's history, which another process may have written. */
const readsOfHistory = { handled: ['UNLINK', 'ZCARD', 'ZRANGE'], history: ['HGET', 'HLEN', 'HMGET', 'UNLINK'] };

/** The commands that a queue with the option `history` needs besides. */
export const historyPermissions: Permissions<Pick<NativeKeys, 'handled' | 'history'>> = {
  handled: ['PEXPIRE', 'PTTL', 'ZADD', 'ZCOUNT', 'ZREM', 'ZSCORE'],
  history: ['HDEL', 'HSCAN', 'HSET', 'PEXPIRE'],
};

/** The commands that a queue with the option `idsFor` needs besides. */
export const keptIdPermissions: Permissions<Pick<NativeKeys, 'kept'>> = {
  kept: ['PEXPIRE', 'PTTL', 'ZADD', 'ZCARD', 'ZCOUNT', 'ZMSCORE', 'ZRANGE', 'ZREM', 'ZREMRANGEBYRANK', 'ZSCORE'],
};

/** Lists the commands that queues of every layout also need in a cluster. */
export function neededInCluster({ due }: NativeKeys): NeededCommand[] {
  return ['SPUBLISH', 'SSUBSCRIBE'].map((name) => ({ name, target: due }));
}

/** The commands on each key of a partition: those that scripts run, and those sent directly, such as `BLPOP` and `SUBSCRIBE`. */
export const partitionPermissions: Permissions<NativeKeys> = {
  ...nativePermissions,
  delayed: [...nativePermissions.delayed, 'EXISTS'],
  messages: [...nativePermissions.messages, 'EXISTS', 'HEXISTS', 'HSETNX'],
  claims: [...nativePermissions.claims, 'HSETNX'],
  leases: [...nativePermissions.leases, 'EXISTS'],
  ready: [...nativePermissions.ready, 'EXISTS'],
  followers: [...nativePermissions.followers, 'HSET', 'UNLINK'],
  paused: [...nativePermissions.paused, 'EXISTS'],
  ended: [...nativePermissions.ended, 'EXISTS'],
  partitions: ['EXISTS', 'GET', 'SET'],
  declared: ['HEXISTS', 'HSET'],
  kept: ['EXISTS'],
  ...readsOfHistory,
};

/** The commands on each key for messages with groups (there are no partitions): those that scripts run, and those sent directly. */
export const groupPermissions: Permissions<GroupKeys> = {
  ...nativePermissions,
  messages: [...nativePermissions.messages, 'HEXISTS'],
  followers: [...nativePermissions.followers, 'HSET', 'UNLINK'],
  partitions: [],
  kept: ['EXISTS'],
  ...readsOfHistory,
  ready: [...nativePermissions.ready, 'LINSERT'],
  permits: ['HDEL', 'HEXISTS', 'HGET', 'HKEYS', 'HLEN', 'HMGET', 'HSCAN', 'HSET', 'UNLINK'],
  backlog: [
    ...['LINDEX', 'LLEN', 'LPOP', 'LPUSH', 'LRANGE', 'LREM', 'RPUSH', 'UNLINK'],
    ...['EXISTS', 'HDEL', 'HGET', 'HKEYS', 'HLEN', 'HMGET', 'HSCAN', 'HSET'],
  ],
  paused: [...nativePermissions.paused, 'EXISTS'],
  held: ['HDEL', 'HGET', 'HKEYS', 'HLEN', 'HMGET', 'HSCAN', 'HSET', 'UNLINK'],
  awaited: ['GET', 'SET'],
  rates: [],
};

/** The commands that groups with a rate need besides. */
export const groupRatePermissions: Permissions<Pick<GroupKeys, 'rates'>> = { rates: ['GET', 'SET'] };
