import { setImmediate } from 'node:timers/promises';

/** Does in one call what is asked for in one turn of the event loop, such as by handlers that start or end together. */
export class TurnBatch<Item, Result> {
  #items: Item[] = [];
  #batch: Promise<readonly Result[]> | undefined;

  /** @param run - returns a result for each item */
  constructor(private readonly run: (items: readonly Item[]) => Promise<readonly Result[]>) {}

  async add(item: Item): Promise<Result> {
    const place = this.#items.push(item) - 1;
    this.#batch ??= this.#runAfterTurn();
    return (await this.#batch)[place]!;
  }

  async #runAfterTurn(): Promise<readonly Result[]> {
    await setImmediate();
    const items = this.#items;
    this.#items = [];
    this.#batch = undefined;
    return this.run(items);
  }
}
