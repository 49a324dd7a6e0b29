import { describeMessageStore } from './message-store.contract.js';
import { openRedisQueue } from './redis-queue.js';
import { nativeStore } from './redis-stores.js';
import { useCluster } from '../support/redis/use-cluster.js';

const cluster = useCluster();

describeMessageStore(
  'NativeMessageStore in a cluster',
  (limits) => Promise.resolve(openRedisQueue(nativeStore(limits), cluster().nodes)),
  { transfersAndClaims: true, losesRecords: true },
);
