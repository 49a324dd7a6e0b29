import type { MemoryQueueDirectory } from '../../../lib/store/memory/memory-directory.js';
import type { FamilyListener, QueueDirectory, WatchedFamily } from '../../../lib/store/queue-directory.js';
import type { Link } from './link.js';
import type { Subscriptions } from './subscriptions.js';

/** The directory of queues at the other end of the network. */
export function remoteDirectory(
  directory: MemoryQueueDirectory,
  link: Link,
  subscriptions: Subscriptions,
): QueueDirectory {
  return {
    register: (queue) => link.call('register', () => directory.register(queue)),
    registerHandled: (names) => link.call('registerHandled', () => directory.registerHandled(names)),
    handled: () => link.call('handled', () => directory.handled()),
    list: (page) => link.call('listQueues', () => directory.list(page)),
    listRegistered: (family) => link.call('listRegistered', () => directory.listRegistered(family)),
    retire: (registration, name) => link.call('retire', () => directory.retire(registration, name)),
    place: (proposed) => link.call('place', () => directory.place(proposed)),
    watch: (family: WatchedFamily, listener: FamilyListener) =>
      subscriptions.open((deliver) =>
        directory.watch(family, {
          onEarlierDue: (queue, dueIn) => deliver(() => listener.onEarlierDue(queue, dueIn)),
          onAbort: (queue, claim) => deliver(() => listener.onAbort?.(queue, claim)),
          onListening: () => deliver(() => listener.onListening()),
        }),
      ),
  };
}
