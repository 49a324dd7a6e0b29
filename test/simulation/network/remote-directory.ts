import type { MemoryQueueDirectory } from '../../../lib/store/memory/memory-stores.js';
import type { FamilyListener, QueueDirectory, WatchedFamily } from '../../../lib/store/queue-directory.js';
import type { Link } from './link.js';
import type { Subscriptions } from './subscriptions.js';

export interface RemoteDirectoryParts {
  readonly directory: MemoryQueueDirectory;
  readonly link: Link;
  readonly subscriptions: Subscriptions;
  /** Called with each registration that takes effect. */
  readonly onRegistered: (queue: string) => void;
}

/** The directory of queues at the other end of the network. */
export function remoteDirectory({
  directory,
  link,
  subscriptions,
  onRegistered,
}: RemoteDirectoryParts): QueueDirectory {
  return {
    register: (queue) =>
      link.call('register', () => {
        onRegistered(queue);
        return directory.register(queue);
      }),
    registerHandled: (names) => link.call('registerHandled', () => directory.registerHandled(names)),
    handled: () => link.call('handled', () => directory.handled()),
    list: (page) => link.call('listQueues', () => directory.list(page)),
    listRegistered: (family) => link.call('listRegistered', () => directory.listRegistered(family)),
    retire: (registration, name) => link.call('retire', () => directory.retire(registration, name)),
    place: (proposed) => link.call('place', () => directory.place(proposed)),
    watch: (family: WatchedFamily, listener: FamilyListener) =>
      subscriptions.open(family.name, (deliver) =>
        directory.watch(family, {
          onEarlierDue: (queue, dueIn) => deliver(() => listener.onEarlierDue(queue, dueIn)),
          onAbort: (queue, claim) => deliver(() => listener.onAbort?.(queue, claim)),
          onListening: () => deliver(() => listener.onListening()),
        }),
      ),
  };
}
