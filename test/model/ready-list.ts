interface Lot {
  due: string[];
  recovered: string[];
}

/**
 * The ids of ready messages, oldest first. Within one transfer, due and recovered messages are equally old: either may come
 * first, each in its own order.
 */
export class ReadyList {
  #lots: Lot[] = [];

  get length(): number {
    return this.#lots.reduce((sum, { due, recovered }) => sum + due.length + recovered.length, 0);
  }

  add(due: readonly { id: string }[], recovered: readonly { id: string }[]): void {
    this.#lots.push({ due: due.map(({ id }) => id), recovered: recovered.map(({ id }) => id) });
    this.#forgetEmptyLots();
  }

  /** Adds messages that a claim has returned, ahead of all others. */
  addFirst(released: readonly { id: string }[]): void {
    this.#lots.unshift({ due: released.map(({ id }) => id), recovered: [] });
    this.#forgetEmptyLots();
  }

  remove(id: string): void {
    for (const lot of this.#lots) {
      lot.due = lot.due.filter((each) => each !== id);
      lot.recovered = lot.recovered.filter((each) => each !== id);
    }
    this.#forgetEmptyLots();
  }

  /** True if these ids, in this order, may be the first to be claimed. */
  mayBeginWith(ids: readonly string[]): boolean {
    const rest = new ReadyList();
    rest.#lots = structuredClone(this.#lots);
    return ids.every((id) => {
      const [oldest] = rest.#lots;
      const isNext = oldest !== undefined && (oldest.due[0] === id || oldest.recovered[0] === id);
      rest.remove(id);
      return isNext;
    });
  }

  #forgetEmptyLots(): void {
    this.#lots = this.#lots.filter(({ due, recovered }) => due.length + recovered.length > 0);
  }
}
