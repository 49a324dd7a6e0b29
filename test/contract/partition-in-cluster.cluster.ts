import { describe } from '@jest/globals';
import { nativeKeys } from '../../lib/store/native/native-keys.js';
import { nativeFunctions } from '../../lib/store/native/native-library.js';
import { NativeMessageStore } from '../../lib/store/native/native-store.js';
import type { RedisConnections } from '../../lib/redis/redis-connections.js';
import { useCluster } from '../support/redis/use-cluster.js';
import { describeMessageStore } from './message-store.contract.js';
import { openRedisQueue } from './redis-queue.js';
import { PREFIX } from './redis-stores.js';

const cluster = useCluster();

const COUNT = 8;

// Each partition is a message store; only its keys and its record depend on the count. e2e/partitions covers all of them together.
describe(`a queue of ${COUNT} partitions`, () => {
  describeMessageStore('the last partition', async (limits) => {
    const known = `1 ${COUNT}`;
    const told: Promise<unknown>[] = [];
    const openLast = (connections: RedisConnections, queue: string) => {
      const keys = nativeKeys(PREFIX, queue, COUNT - 1);
      const args = { known, next: '', pause: '', channel: '', database: 'cluster' };
      told.push(connections.commands.run(nativeFunctions.agree, { keys, args }));
      return new NativeMessageStore(connections, { keys, limits, partitioning: { text: known } });
    };
    const opened = openRedisQueue(openLast, cluster().nodes);
    await Promise.all(told);
    return opened;
  });
});
