import { queueMicrotask, setImmediate } from './event-loop.js';

export interface BatchLimits<Item> {
  readonly maxItems: number;
  /** The maximum weight of a batch, in the unit of `weigh`; a single item may exceed it. */
  readonly maxWeight: number;
  readonly weigh: (item: Item) => number;
}

export interface TurnBatcherOptions<Item> extends BatchLimits<Item> {
  /** Sends a batch; it must not throw. */
  readonly send: (batch: readonly Item[]) => void;
  /** True if no call is in progress, so that a new item need not wait for the end of the turn. Default: never. */
  readonly isIdle?: () => boolean;
}

/** Smaller batches are not split, because a call costs as much as several items. */
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
    const { maxWeight, weigh, send } = this.#options;
    if (items.length === 1) {
      send(items);
      return;
    }
    const maxItems = this.#maxItemsOf(items.length);
    for (const batch of inBatches(items, { maxItems, maxWeight, weigh })) send(batch);
  };

  /** Halves a batch if idle: answers trigger the next batch, so with only one, the server and this process would wait for each other. */
  #maxItemsOf(count: number): number {
    const { maxItems, isIdle } = this.#options;
    return count >= MIN_SPLIT && isIdle?.() ? Math.min(maxItems, Math.ceil(count / 2)) : maxItems;
  }
}

export function* inBatches<Item>(
  items: readonly Item[],
  { maxItems, maxWeight, weigh }: BatchLimits<Item>,
): Generator<readonly Item[]> {
  let start = 0;
  let weight = 0;
  for (let at = 0; at < items.length; at++) {
    const itemWeight = weigh(items[at]!);
    if (at > start && (at - start === maxItems || weight + itemWeight > maxWeight)) {
      yield items.slice(start, at);
      start = at;
      weight = 0;
    }
    weight += itemWeight;
  }
  if (start < items.length) yield start === 0 ? items : items.slice(start);
}
