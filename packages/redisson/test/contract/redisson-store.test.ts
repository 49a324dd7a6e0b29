import { describe } from '@jest/globals';
import type { EntryFormat } from '../../src/entry-format.js';
import { describeMessageStore } from '../../../../test/contract/message-store.contract.js';
import { openRedisQueue } from '../../../../test/contract/redis-queue.js';
import { ofRedisson, redissonStore } from './redisson-stores.js';

describe.each<EntryFormat>(['Bc0Lc0', 'dLc0'])('entry format %s', (format) => {
  describeMessageStore(
    'RedissonMessageStore',
    (limits) => Promise.resolve({ ...openRedisQueue(redissonStore(limits, format)), ...ofRedisson }),
    { follows: false, canChange: false, limitsActive: false, remembers: false, restores: false },
  );
});
