import { describe } from '@jest/globals';
import { systemClock } from '../../lib/timing/clock.js';
import type { EntryFormat } from '../../lib/store/redisson/entry-format.js';
import { RedissonMessageStore } from '../../lib/store/redisson/redisson.store.js';
import { LoggedEvents } from '../support/logged-events.js';
import { describeMessageStore } from './message-store.contract.js';
import { openRedisQueue } from './redis-queue.js';

describe.each<EntryFormat>(['Bc0Lc0', 'dLc0'])('entry format %s', (format) => {
  describeMessageStore('RedissonMessageStore', (limits) =>
    Promise.resolve({
      ...openRedisQueue((connections, queue) => {
        const options = {
          prefix: 'delay-queue',
          queue,
          limits,
          format,
          clock: systemClock,
          events: new LoggedEvents(),
        };
        return new RedissonMessageStore(connections, { ...options, blockTimeout: 5000 });
      }),
      keepsOrderOfOffers: true,
      isTypeless: true,
    }),
  );
});
