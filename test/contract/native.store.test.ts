import { NativeMessageStore } from '../../lib/store/native/native.store.js';
import { describeMessageStore } from './message-store.contract.js';
import { openRedisQueue } from './redis-queue.js';

describeMessageStore('NativeMessageStore', (limits) =>
  Promise.resolve(
    openRedisQueue(
      (connections, queue) => new NativeMessageStore(connections, { prefix: 'delay-queue', queue, limits }),
    ),
  ),
);
