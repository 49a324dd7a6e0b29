import { describe } from '@jest/globals';
import type { EntryFormat } from '../../lib/redisson/entry-format.js';
import { describeMessageStore } from './message-store.contract.js';
import { openRedisQueue } from './redis-queue.js';
import { ofRedisson, redissonStore } from './redis-stores.js';

describe.each<EntryFormat>(['Bc0Lc0', 'dLc0'])('entry format %s', (format) => {
  describeMessageStore(
    'RedissonMessageStore',
    (limits) => Promise.resolve({ ...openRedisQueue(redissonStore(limits, format)), ...ofRedisson }),
    { follows: false, canChange: false },
  );
});
