import type { Events } from '../events/events.js';
import type { ResolvedQueueOptions } from '../options/queue-options-schema.js';
import type { ConfiguredHandler } from '../runtime/queues.js';
import type { Stores } from '../runtime/create-stores.js';
import type { Substitutes } from '../runtime/substitutes.js';
import { limitsOfPartition } from '../runtime/partition-limits.js';
import { MemoryQueueDirectory } from '../store/memory/memory-directory.js';
import { MemoryPartitions } from '../store/memory/memory-partitions.js';
import type { FixedPartitions } from '../store/partitioned/fixed-partitions.js';
import type { StoreLimits } from '../store/message-store.js';
import { LONGEST_TIMER } from '../timing/clock.js';
import { VirtualClock } from './virtual-clock.js';
import { type TakenOffer, WatchedStore } from './watched-store.js';

/** What takes the place of Redis, of time and of chance in an application under test, and knows what happens there. */
export class TestBench implements Substitutes {
  readonly clock: VirtualClock;
  /** What varies at random is in the middle of its range. */
  readonly random = () => 0.5;
  readonly #directory = new MemoryQueueDirectory();
  readonly #partitions = new MemoryPartitions(this.#directory, (queue, limits) => this.#newStore(queue, limits));
  #offered: TakenOffer[] = [];
  #settled = 0;
  #isUsed = false;
  #isClosing = false;
  #isStuck = false;
  /** Whether the application handles a queue. */
  #isHandled: (queue: string) => boolean = () => false;

  constructor(startAt: number) {
    this.clock = new VirtualClock(startAt);
  }

  /** Time stands still while a message is active: a batch is what is due at the same moment. */
  adjust({ handler, options }: ConfiguredHandler): ConfiguredHandler {
    return { options, handler: handler.batch ? { ...handler, batch: { ...handler.batch, wait: 0 } } : handler };
  }

  /** Whether an application has its stores from here. */
  get isUsed(): boolean {
    return this.#isUsed;
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  get offered(): readonly TakenOffer[] {
    return this.#offered;
  }

  /** How many attempts have ended. */
  get settled(): number {
    return this.#settled;
  }

  /** @param isHandled - of which queues due messages make time stop until they are handled */
  follow(isHandled: (queue: string) => boolean): void {
    this.#isHandled = isHandled;
  }

  /** A queue with a message that is with a handler, or about to be; undefined: nothing is under way. */
  findBusy(): WatchedStore | undefined {
    return this.#followedStores().find(({ isBusy }) => isBusy);
  }

  /** The followed queue whose next message falls due first; undefined: none is delayed. */
  findNextDue(): { readonly store: WatchedStore; readonly dueAt: number } | undefined {
    let first: { store: WatchedStore; dueAt: number } | undefined;
    for (const store of this.#followedStores()) {
      const dueAt = store.glance().nextDue;
      if (dueAt !== null && dueAt < (first?.dueAt ?? Infinity)) first = { store, dueAt };
    }
    return first;
  }

  /** A handler never ends, so a closing application need not wait for it. */
  giveUp(): void {
    this.#isStuck = true;
  }

  async clear(): Promise<void> {
    for (const store of this.#partitions.all()) {
      await store.clear();
      await store.resume();
    }
    this.#offered = [];
  }

  openStores(events: Events): Stores {
    this.#isUsed = true;
    return {
      connect: () => events.note('under-test', {}),
      check: () => Promise.resolve(),
      isConnected: true,
      open: (queue, options) => this.#open(queue, options),
      directory: this.#directory,
      hurry: () => {
        this.#isClosing = true;
        this.clock.release(this.#isStuck ? 0 : LONGEST_TIMER);
      },
      close: () => Promise.resolve(),
    };
  }

  #open(queue: string, options: ResolvedQueueOptions): FixedPartitions {
    const { partitions, groups } = options;
    // A message that is due is handled before time moves on, so none could wait for a rate.
    return this.#partitions.open(queue, partitions, { ...limitsOfPartition(options), groups, rate: null });
  }

  #newStore(queue: string, limits: StoreLimits): WatchedStore {
    return new WatchedStore({
      queue,
      limits,
      clock: this.clock,
      onOffered: (offer) => this.#offered.push(offer),
      onSettled: () => this.#settled++,
    });
  }

  #followedStores(): WatchedStore[] {
    return this.#partitions.all().filter(({ queue }) => this.#isHandled(queue));
  }
}
