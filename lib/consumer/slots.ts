/** How many messages of a queue a process may handle at once, shared by the consumer loops of its partitions. */
export class Slots {
  #free: number;
  #waiting: (() => void)[] = [];

  constructor(readonly total: number) {
    this.#free = total;
  }

  get free(): number {
    return this.#free;
  }

  take(count: number): void {
    this.#free -= count;
  }

  /** Wakes all that wait, in the order in which they came: who finds nothing left waits again. */
  giveBack(count: number): void {
    this.#free += count;
    if (this.#free === 0 || this.#waiting.length === 0) return;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Calls `wake` once, when there may be a free slot. */
  await(wake: () => void): void {
    this.#waiting.push(wake);
  }
}
