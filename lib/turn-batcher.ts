export interface TurnBatcherOptions<Item, Result> {
  /** Sends a batch; resolves to a result for each item, in order. */
  readonly send: (batch: readonly Item[]) => Promise<readonly Result[]>;
  /** A batch's size in whatever `weigh` counts; one item may exceed it alone. */
  readonly maxWeight: number;
  readonly weigh: (item: Item) => number;
}

/** The most items of a batch: the scripts' own bound. */
export const MAX_BATCH = 1000;

interface Entry<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Sends what is added in the same turn of the event loop in one call; each item has its own promise. Nothing waits for
 * company: a lone item leaves at the end of its turn.
 */
export class TurnBatcher<Item, Result> {
  readonly #options: TurnBatcherOptions<Item, Result>;
  #entries: Entry<Item, Result>[] = [];

  constructor(options: TurnBatcherOptions<Item, Result>) {
    this.#options = options;
  }

  add(item: Item): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      if (this.#entries.length === 0) setImmediate(() => this.#flush());
      this.#entries.push({ item, resolve, reject });
    });
  }

  #flush(): void {
    const entries = this.#entries;
    this.#entries = [];
    for (const batch of inBatches(entries, this.#options.maxWeight, ({ item }) => this.#options.weigh(item))) {
      void this.#send(batch);
    }
  }

  async #send(batch: readonly Entry<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#options.send(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, i) => resolve(results[i] as Result));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}

/** Cuts a list into batches of at most {@link MAX_BATCH} items and `maxWeight`, in order. */
export function* inBatches<Item>(
  items: readonly Item[],
  maxWeight: number,
  weigh: (item: Item) => number,
): Generator<readonly Item[]> {
  let start = 0;
  let weight = 0;
  for (const [at, item] of items.entries()) {
    const itemWeight = weigh(item);
    if (at > start && (at - start === MAX_BATCH || weight + itemWeight > maxWeight)) {
      yield items.slice(start, at);
      start = at;
      weight = 0;
    }
    weight += itemWeight;
  }
  if (start < items.length) yield items.slice(start);
}
