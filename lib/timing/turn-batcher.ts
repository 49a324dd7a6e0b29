import { queueMicrotask, setImmediate } from './event-loop.js';

/** How large a batch may get. */
export interface BatchLimits<Item> {
  readonly maxItems: number;
  /** In whatever `weigh` counts; one item may exceed it alone. */
  readonly maxWeight: number;
  readonly weigh: (item: Item) => number;
}

export interface TurnBatcherOptions<Item> extends BatchLimits<Item> {
  /** Takes a batch over; it must not throw. */
  readonly send: (batch: readonly Item[]) => void;
  /** Whether there is nothing to travel with, so that what is added need not wait for the end of the turn; default: never. */
  readonly isIdle?: () => boolean;
}

/** The most items of a batch: the scripts' own bound. */
export const MAX_BATCH = 1000;

/**
 * Sends what is added in the same turn of the event loop in one call. Nothing waits for company: a lone item leaves at the
 * end of its turn, or, where all is idle, as soon as the code that adds it gives way.
 */
export class TurnBatcher<Item> {
  readonly #options: TurnBatcherOptions<Item>;
  #items: Item[] = [];

  constructor(options: TurnBatcherOptions<Item>) {
    this.#options = options;
  }

  add(item: Item): void {
    if (this.#items.length === 0) {
      if (this.#options.isIdle?.()) queueMicrotask(() => this.flush());
      else setImmediate(() => this.flush());
    }
    this.#items.push(item);
  }

  /** Sends what was added, without waiting for the end of the turn. */
  flush(): void {
    const items = this.#items;
    this.#items = [];
    for (const batch of inBatches(items, this.#options)) this.#options.send(batch);
  }
}

/** Cuts a list into batches, in order. */
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
