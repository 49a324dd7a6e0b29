import { MemoryLimits } from '../limits/memory-limits.js';
import type { ResolvedQueueOptions } from '../options/queue-options-schema.js';
import { limitsOfPartition, routerOf } from '../runtime/open-queue.js';
import { MemoryQueueDirectory, MemoryStores } from '../store/memory/memory-stores.js';
import type { Router } from '../store/router.js';
import type { Clock } from '../timing/clock.js';
import { type TakenOffer, WatchedStore } from './watched-store.js';

/** The queues of one instance of the module, and the offers to them. */
export class QueuesUnderTest {
  readonly directory = new MemoryQueueDirectory();
  // No rate applies, because due messages are handled before time moves on, so none could wait for a rate.
  readonly limits = new MemoryLimits((queue, options: ResolvedQueueOptions, set) => {
    const groups = options.groups && { ...options.groups, rate: null };
    return this.#stores.open(queue, options.partitions, {
      ...limitsOfPartition({ ...options, ...set, rate: null }),
      groups,
    });
  });
  readonly #stores: MemoryStores<WatchedStore>;
  #offered: TakenOffer[] = [];
  #isHandled: (queue: string) => boolean = () => false;

  /** @param onSettled - called when an attempt has ended */
  constructor(
    readonly instance: string,
    { clock, onSettled }: { readonly clock: Clock; readonly onSettled: () => void },
  ) {
    const onOffered = (offer: TakenOffer) => this.#offered.push(offer);
    this.#stores = new MemoryStores(
      this.directory,
      (queue, limits) => new WatchedStore({ instance, queue, limits, clock, onOffered, onSettled }),
    );
  }

  get offered(): readonly TakenOffer[] {
    return this.#offered;
  }

  /** @param isHandled - true for queues whose due messages are handled before time moves on */
  follow(isHandled: (queue: string) => boolean): void {
    this.#isHandled = isHandled;
  }

  followed(): WatchedStore[] {
    return this.#stores.all().filter(({ queue }) => this.#isHandled(queue));
  }

  open(queue: string, options: ResolvedQueueOptions): Router {
    return routerOf(this.limits.open(queue, options));
  }

  async clear(): Promise<void> {
    for (const store of this.#stores.all()) {
      await store.clear();
      await store.resume();
    }
    this.#offered = [];
  }
}
