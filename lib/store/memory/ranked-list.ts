const LARGEST_CHUNK = 1024;

/** An item with a rank, and a name that orders items of equal rank (by character codes). */
export interface Ranked {
  readonly rank: number;
  readonly name: string;
}

/**
 * Keeps items in order at a cost that hardly grows with their number. Uses short sorted arrays: adding or removing an item shifts only part
 * of one array. The rank and name of an item must not change while it is in the list.
 */
export class RankedList<T extends Ranked> {
  /** No chunk is empty. */
  #chunks: T[][] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  first(): T | undefined {
    return this.#chunks[0]?.[0];
  }

  last(): T | undefined {
    return this.#chunks.at(-1)?.at(-1);
  }

  add(item: T): void {
    this.#size++;
    if (this.#chunks.length === 0) this.#chunks.push([]);
    const at = Math.min(this.#chunkOf(item), this.#chunks.length - 1);
    const chunk = this.#chunks[at]!;
    chunk.splice(countBefore(chunk, item), 0, item);
    if (chunk.length > LARGEST_CHUNK) this.#chunks.splice(at + 1, 0, chunk.splice(LARGEST_CHUNK / 2));
  }

  /** @returns true if the item was in the list */
  remove(item: T): boolean {
    const at = this.#chunkOf(item);
    const chunk = this.#chunks[at] ?? [];
    const position = countBefore(chunk, item);
    if (chunk[position] !== item) return false;
    this.#size--;
    chunk.splice(position, 1);
    if (chunk.length === 0) this.#chunks.splice(at, 1);
    return true;
  }

  /** Returns the first `limit` items, or the first `limit` after a place, which need not have an item. */
  take(limit: number, behind: Ranked = { rank: -Infinity, name: '' }): T[] {
    const taken: T[] = [];
    let at = this.#chunkOf(behind);
    let position = countWhile(this.#chunks[at] ?? [], (item) => compare(item, behind) <= 0);
    for (; at < this.#chunks.length && taken.length < limit; at++) {
      taken.push(...this.#chunks[at]!.slice(position, position + limit - taken.length));
      position = 0;
    }
    return taken;
  }

  /** Counts the items before a place, which need not have an item. */
  countBefore(place: Ranked): number {
    const at = this.#chunkOf(place);
    const inChunks = this.#chunks.slice(0, at).reduce((sum, chunk) => sum + chunk.length, 0);
    return inChunks + countBefore(this.#chunks[at] ?? [], place);
  }

  /** Returns the index of the first chunk that ends at or after the place, or the number of chunks if there is none. */
  #chunkOf(place: Ranked): number {
    return countWhile(this.#chunks, (chunk) => chunk.length > 0 && compare(chunk.at(-1)!, place) < 0);
  }
}

function countBefore(chunk: readonly Ranked[], place: Ranked): number {
  return countWhile(chunk, (item) => compare(item, place) < 0);
}

/** Counts the elements at the start of an array that satisfy a condition. No later element may satisfy it. */
function countWhile<Element>(array: readonly Element[], isTrue: (element: Element) => boolean): number {
  let low = 0;
  let high = array.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isTrue(array[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function compare(a: Ranked, b: Ranked): number {
  if (a.rank !== b.rank) return a.rank - b.rank;
  return a.name === b.name ? 0 : a.name < b.name ? -1 : 1;
}
