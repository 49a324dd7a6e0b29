import { nextTick as processNextTick } from 'node:process';
import * as timers from 'node:timers';
import type { Clock } from './clock.js';

/*
 * The event loop's turns, taken from Node.js itself. Test frameworks' fake timers replace the globals, and a call that waits for the end of
 * its turn would then hang until the test advances the time. Fake timers may still fake the time itself: see `clock.ts`.
 */

export const { setImmediate, clearImmediate } = timers;
export const nextTick = processNextTick;

const done = Promise.resolve();

/** Runs `task` once the current code has finished. `task` must not throw. */
export function queueMicrotask(task: () => void): void {
  void done.then(task);
}

/** How long work may be started in one turn of the event loop, ms. Started work continues in that turn, and takes several times as long. */
const SLICE = 3;

/** Calls `work` with each of many items, and yields to the event loop in between. The first slice runs at once. */
export async function inSlices<Item>(
  items: Iterable<Item>,
  clock: Pick<Clock, 'monotonic'>,
  work: (item: Item) => void,
): Promise<void> {
  let end = clock.monotonic() + SLICE;
  for (const item of items) {
    if (clock.monotonic() >= end) {
      await new Promise((resolve) => setImmediate(resolve));
      end = clock.monotonic() + SLICE;
    }
    work(item);
  }
}

/** Like `Promise.all`, but yields to the event loop while starting the work. */
export async function allInSlices<Item>(
  items: Iterable<Item>,
  clock: Pick<Clock, 'monotonic'>,
  begin: (item: Item) => Promise<void>,
): Promise<void> {
  const begun: Promise<void>[] = [];
  await inSlices(items, clock, (item) => {
    const work = begin(item);
    // The work may fail before anything awaits it.
    work.catch(() => undefined);
    begun.push(work);
  });
  await Promise.all(begun);
}

interface BatchLimits<Item> {
  readonly maxItems: number;
  /** The maximum weight of a batch, in the unit of `weigh`; a single item may exceed it. */
  readonly maxWeight: number;
  readonly weigh: (item: Item) => number;
  /** True if an item may be in the same batch as the one before it. Default: always. */
  readonly mayJoin?: (item: Item, previous: Item) => boolean;
}

interface TurnBatcherOptions<Item> extends BatchLimits<Item> {
  /** Sends a batch; it must not throw. */
  readonly send: (batch: readonly Item[]) => void;
  /** Returns true if no call is in progress, so that a new item need not wait for the end of the turn. Default: false. */
  readonly isIdle?: () => boolean;
}

/** Minimum size of a batch that is split. A call costs as much as several items, so smaller parts would not pay. */
const MIN_SPLIT = 32;

/**
 * Sends the items added in one turn of the event loop in one call. Items do not wait for others to arrive: a single item is sent at the end
 * of its turn or, if no call is in progress, as soon as the code that added it has finished.
 */
export class TurnBatcher<Item> {
  readonly #options: TurnBatcherOptions<Item>;
  #items: Item[] = [];

  constructor(options: TurnBatcherOptions<Item>) {
    this.#options = options;
  }

  add(item: Item): void {
    if (this.#items.length === 0) {
      if (this.#options.isIdle?.()) queueMicrotask(this.flush);
      else setImmediate(this.flush);
    }
    this.#items.push(item);
  }

  /** Sends the added items without waiting for the end of the turn. */
  readonly flush = (): void => {
    const items = this.#items;
    this.#items = [];
    const { send } = this.#options;
    if (items.length === 1) {
      send(items);
      return;
    }
    const limits = { ...this.#options, maxItems: this.#maxItemsOf(items.length) };
    for (const batch of inBatches(items, limits)) send(batch);
  };

  /** Halves a batch if no call is in progress, because with one batch at a time, the server and this process would wait for each other. */
  #maxItemsOf(count: number): number {
    const { maxItems, isIdle } = this.#options;
    return count >= MIN_SPLIT && isIdle?.() ? Math.min(maxItems, Math.ceil(count / 2)) : maxItems;
  }
}

export function* inBatches<Item>(
  items: readonly Item[],
  { maxItems, maxWeight, weigh, mayJoin = () => true }: BatchLimits<Item>,
): Generator<readonly Item[]> {
  let start = 0;
  let weight = 0;
  for (let at = 0; at < items.length; at++) {
    const item = items[at]!;
    const itemWeight = weigh(item);
    const isFull = at - start === maxItems || weight + itemWeight > maxWeight;
    if (at > start && (isFull || !mayJoin(item, items[at - 1]!))) {
      yield items.slice(start, at);
      start = at;
      weight = 0;
    }
    weight += itemWeight;
  }
  if (start < items.length) yield start === 0 ? items : items.slice(start);
}
