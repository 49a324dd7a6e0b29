import type { StoreLimits } from '../../lib/store/message-store.js';
import { nativeKeys } from '../../lib/store/native/native-keys.js';
import { NativeMessageStore } from '../../lib/store/native/native-store.js';
import type { RedisConnections } from '../../lib/redis/redis-connections.js';

export const PREFIX = 'delay-queue';

export const nativeStore = (limits: StoreLimits) => (connections: RedisConnections, queue: string) =>
  new NativeMessageStore(connections, { keys: nativeKeys(PREFIX, queue), limits });
