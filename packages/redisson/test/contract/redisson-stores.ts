import type { RedisConnections } from '../../../../lib/redis/redis-connections.js';
import type { StoreLimits } from '../../../../lib/store/message-store.js';
import { systemClock } from '../../../../lib/timing/clock.js';
import { PREFIX } from '../../../../test/contract/redis-stores.js';
import { LoggedEvents } from '../../../../test/support/logged-events.js';
import type { EntryFormat } from '../../src/entry-format.js';
import { RedissonMessageStore } from '../../src/redisson-store.js';

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

/** The peculiarities of queues in Redisson's layout. */
export const ofRedisson = { keepsOrderOfOffers: true, isTypeless: true, subscriptions: 2 };
