import type { ResolvedQueueOptions } from '../../../lib/options/queue-options-schema.js';
import { limitsOfPartition } from '../../../lib/runtime/open-queue.js';
import { MemoryQueueDirectory, MemoryStores, type StoresOfQueue } from '../../../lib/store/memory/memory-stores.js';
import { MemoryWorkerRegistry } from '../../../lib/store/memory/memory-worker-registry.js';
import { MemoryMessageStore } from '../../../lib/store/memory/memory-store.js';
import type { GroupRules } from '../../../lib/store/message-store.js';
import type { Clock } from '../../../lib/timing/clock.js';
import { cancel, type World } from '../world/world.js';
import { ServedStore } from './served-store.js';

/** Where all messages are: what Redis is to real processes. */
export class SimulatedServer {
  readonly clock: Clock;
  readonly #instances = new Map<
    string,
    {
      directory: MemoryQueueDirectory;
      registry: MemoryWorkerRegistry;
      stores: MemoryStores<MemoryMessageStore>;
      limits: Map<string, string>;
    }
  >();
  readonly #opened = new Map<string, StoresOfQueue<MemoryMessageStore>>();
  /** By what they say: the memory store takes equal rules of another object for a change. */
  readonly #rules = new Map<string, GroupRules>();
  /** False while a replica that is about to take its place is told of nothing. */
  isReplicating = true;
  /** The offset of its clock, ms. */
  #shift = 0;

  readonly #served = new Map<MemoryMessageStore, { readonly store: ServedStore; readonly follow: () => void }>();

  /** @param hasReplica - which takes its place when it fails */
  constructor(
    private readonly world: World,
    private readonly hasReplica: boolean,
  ) {
    const schedule = (task: () => void, delay: number) => {
      const timer = world.after(delay, task);
      return () => cancel(timer);
    };
    this.clock = {
      monotonic: () => world.now + this.#shift,
      wall: () => world.epoch + world.now + this.#shift,
      schedule,
      schedulePunctually: schedule,
    };
  }

  /** The time of its clock, ms since 1970. */
  get time(): number {
    return this.clock.wall();
  }

  /** Sets the clock forward, or back. */
  stepClock(ms: number): void {
    this.#shift += ms;
  }

  /** The time at which its clock shows an instant, ms of the world, unless it is set meanwhile. */
  worldTimeOf(instant: number): number {
    return instant - this.world.epoch - this.#shift;
  }

  directoryOf(instance: string): MemoryQueueDirectory {
    return this.#instance(instance).directory;
  }

  registryOf(instance: string): MemoryWorkerRegistry {
    return this.#instance(instance).registry;
  }

  /** Opens a queue. All processes have the same limits. */
  open(instance: string, queue: string, options: ResolvedQueueOptions): StoresOfQueue<MemoryMessageStore> {
    const name = `${instance}/${queue}`;
    let opened = this.#opened.get(name);
    if (!opened) {
      const groups = options.groups && this.#sharedRules(options.groups);
      const limits = { ...limitsOfPartition(options), groups };
      opened = this.#instance(instance).stores.open(queue, options.partitions, limits);
      this.#opened.set(name, opened);
    }
    return opened;
  }

  /** The limits that were set, by queue. They survive a failover. */
  limitsOf(instance: string): Map<string, string> {
    return this.#instance(instance).limits;
  }

  /** Tells the processes that serve a queue of an instance to read its limits. */
  announceLimits(instance: string, queue: string): void {
    for (const store of this.#opened.get(`${instance}/${queue}`)?.partitions ?? [])
      this.servedStore(store).announceLimits();
  }

  /** @param store - one that was opened */
  servedStore(store: MemoryMessageStore): ServedStore {
    return this.#served.get(store)!.store;
  }

  /** What happens from now on gets lost when it fails. */
  stopReplicating(): void {
    this.isReplicating = false;
    for (const { store } of this.#served.values()) store.stopReplicating();
  }

  /** The replica takes its place, with what it has been told of. */
  failOver(): void {
    this.isReplicating = true;
    for (const { store, follow } of this.#served.values()) {
      store.failOver();
      follow();
    }
  }

  #instance(name: string) {
    let instance = this.#instances.get(name);
    if (!instance) {
      const directory = new MemoryQueueDirectory();
      const create = (queue: string, limits: MemoryMessageStoreLimits) => {
        const store = this.#create(limits);
        const served = new ServedStore(limits, store, this.hasReplica ? this.#create(limits) : undefined);
        if (!this.isReplicating) served.stopReplicating();
        this.#served.set(store, { store: served, follow: () => directory.follow(queue, served) });
        return store;
      };
      const registry = new MemoryWorkerRegistry(this.clock);
      instance = { directory, registry, stores: new MemoryStores(directory, create), limits: new Map() };
      this.#instances.set(name, instance);
    }
    return instance;
  }

  #create(limits: MemoryMessageStoreLimits): MemoryMessageStore {
    const store = new MemoryMessageStore({ limits, clock: this.clock });
    // As in Redis: with groups, no call does both.
    return limits.groups ? Object.assign(store, { transferAndClaim: undefined }) : store;
  }

  #sharedRules(rules: GroupRules): GroupRules {
    const text = JSON.stringify(rules);
    const shared = this.#rules.get(text) ?? rules;
    this.#rules.set(text, shared);
    return shared;
  }
}

type MemoryMessageStoreLimits = ConstructorParameters<typeof MemoryMessageStore>[0]['limits'];
