import { describeMessageStore } from './message-store.contract.js';
import { openRedisQueue } from './redis-queue.js';
import { ofRedisson, redissonStore } from './redis-stores.js';
import { useCluster } from '../support/redis/use-cluster.js';

const cluster = useCluster();

describeMessageStore(
  'RedissonMessageStore in a cluster',
  (limits) => Promise.resolve({ ...openRedisQueue(redissonStore(limits, 'Bc0Lc0'), cluster().nodes), ...ofRedisson }),
  { follows: false, canChange: false },
);
