import { nativeKeys } from '../../lib/store/native/native.keys.js';
import { NativeMessageStore } from '../../lib/store/native/native.store.js';
import { describeMessageStore } from './message-store.contract.js';
import { openRedisQueue } from './redis-queue.js';

describeMessageStore('NativeMessageStore', (limits) =>
  Promise.resolve(
    openRedisQueue(
      (connections, queue) => new NativeMessageStore(connections, { keys: nativeKeys('delay-queue', queue), limits }),
    ),
  ),
);
