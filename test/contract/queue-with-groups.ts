import { GroupStore } from '../../lib/groups/group-store.js';
import { MemoryQueueDirectory, MemoryStores } from '../../lib/store/memory/memory-stores.js';
import { MemoryMessageStore } from '../../lib/store/memory/memory-store.js';
import type { GroupRules, MessageStore, StoreLimits } from '../../lib/store/message-store.js';
import { groupKeys, nativeKeys } from '../../lib/store/native/native-keys.js';
import { NativeMessageStore } from '../../lib/store/native/native-store.js';
import { systemClock } from '../../lib/timing/clock.js';
import { openRedisQueue } from './redis-queue.js';
import { PREFIX } from './redis-stores.js';

/** The stores of a queue that has messages with and without groups. */
export interface QueueWithGroups {
  readonly plain: MessageStore;
  readonly grouped: MessageStore;
  close(): Promise<void>;
}

/** Opens a fresh queue, by the name of what it is stored in. */
export const openQueueWithGroups = {
  Redis(limits: StoreLimits, rules: GroupRules): QueueWithGroups {
    let grouped: GroupStore;
    const queue = openRedisQueue((connections, name) => {
      grouped = new GroupStore(connections, { prefix: PREFIX, queue: name, limits, rules });
      const keys = { keys: nativeKeys(PREFIX, name), others: groupKeys(PREFIX, name) };
      return new NativeMessageStore(connections, { ...keys, limits });
    });
    return { plain: queue.store, grouped: grouped!, close: () => queue.close() };
  },

  memory(limits: StoreLimits, rules: GroupRules): QueueWithGroups {
    const create = () => new MemoryMessageStore({ limits, clock: systemClock });
    const stores = new MemoryStores(new MemoryQueueDirectory(), create);
    const { partitions, groups } = stores.open('queue', 1, { ...limits, groups: rules });
    return { plain: partitions[0]!, grouped: groups!, close: () => Promise.resolve() };
  },
};
