import { describeMessageStore } from '../../../../test/contract/message-store.contract.js';
import { openRedisQueue } from '../../../../test/contract/redis-queue.js';
import { ofRedisson, redissonStore } from './redisson-stores.js';
import { useCluster } from '../../../../test/support/redis/use-cluster.js';

const cluster = useCluster();

describeMessageStore(
  'RedissonMessageStore in a cluster',
  (limits) => Promise.resolve({ ...openRedisQueue(redissonStore(limits, 'Bc0Lc0'), cluster().nodes), ...ofRedisson }),
  { follows: false, canChange: false, limitsActive: false, remembers: false, restores: false },
);
