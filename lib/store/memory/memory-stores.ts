import type { StoreLimits } from '../message-store.js';
import type { MemoryQueueDirectory } from './memory-directory.js';
import type { MemoryMessageStore } from './memory-store.js';

export interface StoresOfQueue<Store> {
  /** One for each partition. */
  readonly partitions: readonly Store[];
  /** The store of messages that have groups; undefined: there are none. */
  readonly groups: Store | undefined;
}

/** The stores of all queues in this process. None is ever dropped, because it keeps the messages. */
export class MemoryStores<Store extends MemoryMessageStore> {
  readonly #stores = new Map<string, Store>();

  constructor(
    private readonly directory: MemoryQueueDirectory,
    private readonly create: (queue: string, limits: StoreLimits) => Store,
  ) {}

  all(): Store[] {
    return [...this.#stores.values()];
  }

  /** Opens a queue, or changes the limits of an open one, which may have been used before the options of its handler were known. */
  open(queue: string, count: number, { groups = null, ...limits }: StoreLimits): StoresOfQueue<Store> {
    const partitions = Array.from({ length: count }, (_, partition) => this.#open(queue, String(partition), limits));
    const ofGroups = groups ? this.#open(queue, 'groups', { ...limits, groups }) : undefined;
    ofGroups?.shareRate(partitions[0]!);
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
