import type { Events } from '../events/events.js';
import type { ConfiguredHandler } from '../runtime/queues.js';
import type { Stores } from '../runtime/create-stores.js';
import type { TestOverrides } from '../runtime/workers.js';
import { MAX_TIMER_DELAY } from '../timing/clock.js';
import { QueuesUnderTest } from './queues-under-test.js';
import { VirtualClock } from './virtual-clock.js';
import type { WatchedStore } from './watched-store.js';

/** Replaces Redis, time and random numbers in an application under test, and watches what happens there. */
export class TestBench implements TestOverrides {
  readonly clock: VirtualClock;
  /** Always returns the middle of the range. */
  readonly random = () => 0.5;
  /** The queues under test, by the name of their instance. */
  readonly #queues = new Map<string, QueuesUnderTest>();
  #settled = 0;
  #isClosing = false;
  #isStuck = false;

  constructor(startAt: number) {
    this.clock = new VirtualClock(startAt);
  }

  /** Makes batches start at once: time stands still while a message is active, so a batch only holds messages due at the same time. */
  adjust({ handler, options }: ConfiguredHandler): ConfiguredHandler {
    return { options, handler: handler.batch ? { ...handler, batch: { ...handler.batch, wait: 0 } } : handler };
  }

  /** True if an application has opened its stores here. */
  get isUsed(): boolean {
    return this.#queues.size > 0;
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  get settled(): number {
    return this.#settled;
  }

  queuesOf(instance: string): QueuesUnderTest {
    return this.#queues.get(instance)!;
  }

  /** Finds a queue that has an active message or is about to have one; undefined if there is none. */
  findBusy(): WatchedStore | undefined {
    return this.#followedStores().find(({ isBusy }) => isBusy);
  }

  /** Finds the followed queue whose next message falls due first; undefined if none is delayed. */
  findNextDue(): { readonly store: WatchedStore; readonly dueAt: number } | undefined {
    let first: { store: WatchedStore; dueAt: number } | undefined;
    for (const store of this.#followedStores()) {
      const dueAt = store.glance().nextDue;
      if (dueAt !== null && dueAt < (first?.dueAt ?? Infinity)) first = { store, dueAt };
    }
    return first;
  }

  /** Notes that a handler does not end. When the application closes, it then does not wait for that handler. */
  giveUp(): void {
    this.#isStuck = true;
  }

  openStores(instance: string, events: Events): Stores {
    const queues = new QueuesUnderTest(instance, { clock: this.clock, onSettled: () => this.#settled++ });
    this.#queues.set(instance, queues);
    return {
      connect: () => events.note('under-test', {}),
      started: () => undefined,
      check: () => Promise.resolve(),
      isConnected: true,
      addresses: () => Promise.resolve(['memory']),
      open: (queue, options) => queues.open(queue, options),
      directory: queues.directory,
      limits: queues.limits,
      failFast: () => {
        this.#isClosing = true;
        this.clock.release(this.#isStuck ? 0 : MAX_TIMER_DELAY);
      },
      close: () => Promise.resolve(),
    };
  }

  #followedStores(): WatchedStore[] {
    return [...this.#queues.values()].flatMap((queues) => queues.followed());
  }
}
