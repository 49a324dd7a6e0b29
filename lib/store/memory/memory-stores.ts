import type { StoreLimits } from '../message-store.js';
import type { MemoryMessageStore } from './memory-store.js';
import { belongsTo, isFamily } from '../../message/queue-name.js';
import { queueMicrotask } from '../../timing/event-loop.js';
import type { ConsumerStore } from '../consumer-store.js';
import type {
  FamilyListener,
  QueueDirectory,
  RegisteredPart,
  Registration,
  WatchedFamily,
} from '../queue-directory.js';

export interface StoresOfQueue<Store> {
  /** A store for each partition. */
  readonly partitions: readonly Store[];
  /** The store for messages with groups; undefined if there are none. */
  readonly groups: Store | undefined;
}

/** The stores of all queues in this process. None is ever dropped, because the stores hold the messages. */
export class MemoryStores<Store extends MemoryMessageStore> {
  readonly #stores = new Map<string, Store>();

  constructor(
    private readonly directory: MemoryQueueDirectory,
    private readonly create: (queue: string, limits: StoreLimits) => Store,
  ) {}

  all(): Store[] {
    return [...this.#stores.values()];
  }

  /** Opens a queue, or changes the limits of an open one, because a queue may be used before its handler's options are known. */
  open(queue: string, count: number, { groups = null, ...limits }: StoreLimits): StoresOfQueue<Store> {
    const partitions = Array.from({ length: count }, (_, partition) => this.#open(queue, String(partition), limits));
    const ofGroups = groups ? this.#open(queue, 'groups', { ...limits, groups }) : undefined;
    ofGroups?.shareLimits(partitions[0]!);
    return { partitions, groups: ofGroups };
  }

  #open(queue: string, part: string, limits: StoreLimits): Store {
    const name = `${queue}#${part}`;
    const store = this.#stores.get(name) ?? this.#create(queue, limits);
    this.#stores.set(name, store);
    store.limit(limits);
    return store;
  }

  #create(queue: string, limits: StoreLimits): Store {
    const store = this.create(queue, limits);
    this.directory.follow(queue, store);
    return store;
  }
}

interface Watch {
  readonly family: string;
  readonly listener: FamilyListener;
}

export class MemoryQueueDirectory implements QueueDirectory {
  readonly #names = new Set<string>();
  readonly #registered = new Map<string, string>();
  readonly #handled = new Set<string>();
  readonly #watches = new Set<Watch>();
  #registrations = 0;
  #place = '';

  register(queue: string): Promise<void> {
    this.#names.add(queue);
    this.#registered.set(queue, String(++this.#registrations));
    return Promise.resolve();
  }

  registerHandled(names: readonly string[]): Promise<void> {
    for (const name of names) {
      this.#handled.add(name);
      if (!isFamily(name)) this.#names.add(name);
    }
    return Promise.resolve();
  }

  handled(): Promise<string[]> {
    return Promise.resolve([...this.#handled]);
  }

  list({ after, limit }: { after: string; limit: number }): Promise<string[]> {
    const names = [...this.#names].filter((name) => name > after).sort();
    return Promise.resolve(names.slice(0, limit));
  }

  place(proposed: string): Promise<string> {
    return Promise.resolve((this.#place ||= proposed));
  }

  listRegistered(family: string): Promise<RegisteredPart> {
    const registrations = [...this.#registered]
      .filter(([queue]) => belongsTo(family, queue))
      .map(([queue, stamp]) => ({ queue, stamp }));
    return Promise.resolve({ registrations, cursor: null });
  }

  retire({ queue, stamp }: Registration, name: 'kept' | 'forgotten'): Promise<boolean> {
    const isRetired = this.#registered.get(queue) === stamp && this.#registered.delete(queue);
    if (isRetired && name === 'forgotten' && !this.#handled.has(queue)) this.#names.delete(queue);
    return Promise.resolve(isRetired);
  }

  watch({ name: family }: WatchedFamily, listener: FamilyListener): () => void {
    const watch = { family, listener };
    this.#watches.add(watch);
    queueMicrotask(() => this.#watches.has(watch) && listener.onListening());
    return () => this.#watches.delete(watch);
  }

  /** From now on, announces the queue's aborts, and anything that falls due earlier than before. */
  follow(queue: string, store: Pick<ConsumerStore, 'watchDue'>): void {
    store.watchDue({
      onEarlierDue: ({ dueIn }) => this.announce(queue, dueIn),
      onAbort: (claim) => this.#announce(queue, (listener) => listener.onAbort?.(queue, claim)),
      onListening: () => undefined,
    });
  }

  announce(queue: string, dueIn: number): void {
    this.#announce(queue, (listener) => listener.onEarlierDue(queue, dueIn));
  }

  #announce(queue: string, say: (listener: FamilyListener) => void): void {
    for (const { family, listener } of this.#watches) if (belongsTo(family, queue)) say(listener);
  }
}
