import { describeMessageStore } from './message-store.contract.js';
import { openRedisQueue } from './redis-queue.js';
import { nativeStore } from './redis-stores.js';

describeMessageStore('NativeMessageStore', (limits) => Promise.resolve(openRedisQueue(nativeStore(limits))), {
  transfersAndClaims: true,
  losesRecords: true,
});
