import { afterAll, beforeAll, describe } from '@jest/globals';
import { RedisCluster } from '../support/redis/redis-cluster.js';
import { describeMessageStore } from './message-store.contract.js';
import { openRedisQueue } from './redis-queue.js';
import { nativeStore, ofRedisson, redissonStore } from './redis-stores.js';

describe('on a cluster', () => {
  let cluster: RedisCluster;

  beforeAll(async () => {
    cluster = await RedisCluster.start();
  });
  afterAll(() => cluster.stop());

  describeMessageStore('NativeMessageStore', (limits) =>
    Promise.resolve(openRedisQueue(nativeStore(limits), cluster.nodes)),
  );
  describeMessageStore('RedissonMessageStore', (limits) =>
    Promise.resolve({ ...openRedisQueue(redissonStore(limits, 'Bc0Lc0'), cluster.nodes), ...ofRedisson }),
  );
});
