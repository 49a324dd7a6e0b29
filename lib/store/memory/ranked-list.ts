const LARGEST_CHUNK = 1024;

/** What orders an item: its rank, and among equal ranks its name, by character codes. */
export interface Ranked {
  readonly rank: number;
  readonly name: string;
}

/**
 * Keeps items in order at a cost that hardly grows with their number: a list of short sorted arrays, where adding or
 * removing an item shifts a part of one array only. An item's rank and name must not change while it is in here.
 */
export class RankedList<T extends Ranked> {
  /** None is empty. */
  #chunks: T[][] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  first(): T | undefined {
    return this.#chunks[0]?.[0];
  }

  add(item: T): void {
    const at = Math.min(this.#chunkOf(item), this.#chunks.length - 1);
    const chunk = this.#chunks[at];
    this.#size++;
    if (chunk === undefined) {
      this.#chunks.push([item]);
      return;
    }
    chunk.splice(positionIn(chunk, item), 0, item);
    if (chunk.length > LARGEST_CHUNK) {
      this.#chunks.splice(at + 1, 0, chunk.splice(LARGEST_CHUNK / 2));
    }
  }

  /** @returns whether it was there */
  remove(item: T): boolean {
    const at = this.#chunkOf(item);
    const chunk = this.#chunks[at];
    const position = chunk === undefined ? 0 : positionIn(chunk, item);
    if (chunk?.[position] !== item) {
      return false;
    }
    chunk.splice(position, 1);
    this.#size--;
    if (chunk.length === 0) {
      this.#chunks.splice(at, 1);
    }
    return true;
  }

  /** The first `limit` items, or the first ones behind a place, whether or not an item is there. */
  take(limit: number, behind: Ranked = { rank: -Infinity, name: '' }): T[] {
    const taken: T[] = [];
    let at = this.#chunkOf(behind);
    let chunk = this.#chunks[at];
    let position = chunk === undefined ? 0 : positionBehind(chunk, behind);
    while (chunk !== undefined && taken.length < limit) {
      taken.push(...chunk.slice(position, position + limit - taken.length));
      chunk = this.#chunks[++at];
      position = 0;
    }
    return taken;
  }

  /** The first chunk that ends at the place or behind it; the number of chunks if none does. */
  #chunkOf(place: Ranked): number {
    return countBefore(this.#chunks, (chunk) => compare(lastOf(chunk), place) < 0);
  }
}

function lastOf<E>(array: readonly E[]): E {
  return array[array.length - 1] as E;
}

function positionIn(chunk: readonly Ranked[], place: Ranked): number {
  return countBefore(chunk, (item) => compare(item, place) < 0);
}

function positionBehind(chunk: readonly Ranked[], place: Ranked): number {
  return countBefore(chunk, (item) => compare(item, place) <= 0);
}

/** How many elements from the start on satisfy `isBefore`, which is true for a first part of the array only. */
function countBefore<E>(array: readonly E[], isBefore: (element: E) => boolean): number {
  let low = 0;
  let high = array.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(array[middle] as E)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

function compare(a: Ranked, b: Ranked): number {
  if (a.rank !== b.rank) {
    return a.rank - b.rank;
  }
  return a.name === b.name ? 0 : a.name < b.name ? -1 : 1;
}
