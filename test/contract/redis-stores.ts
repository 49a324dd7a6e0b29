import { systemClock } from '../../lib/timing/clock.js';
import type { StoreLimits } from '../../lib/store/message-store.js';
import { nativeKeys } from '../../lib/store/native/native-keys.js';
import { NativeMessageStore } from '../../lib/store/native/native-store.js';
import type { RedisConnections } from '../../lib/redis/redis-connections.js';
import type { EntryFormat } from '../../packages/redisson/src/entry-format.js';
import { RedissonMessageStore } from '../../packages/redisson/src/redisson-store.js';
import { LoggedEvents } from '../support/logged-events.js';

export const PREFIX = 'delay-queue';

export const nativeStore = (limits: StoreLimits) => (connections: RedisConnections, queue: string) =>
  new NativeMessageStore(connections, { keys: nativeKeys(PREFIX, queue), limits });

export const redissonStore =
  (limits: StoreLimits, format: EntryFormat) => (connections: RedisConnections, queue: string) =>
    new RedissonMessageStore(connections, {
      prefix: PREFIX,
      queue,
      limits,
      format,
      clock: systemClock,
      events: new LoggedEvents(),
      blockTimeout: 5000,
    });

/** What is special about queues in Redisson's layout. */
export const ofRedisson = { keepsOrderOfOffers: true, isTypeless: true };
