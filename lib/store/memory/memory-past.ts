import type { RestoreOutcome, ScannedId } from '../message-past.js';
import type { KeptIdRules } from '../message-store.js';
import { bytesOf } from './message-table.js';
import { type Ranked, RankedList } from './ranked-list.js';

/** What is kept of each handled message, at least. */
export type HandledId = Pick<ScannedId, 'id' | 'handledAt'>;

interface Ordered<Item> extends Ranked {
  readonly item: Item;
}

/** What a queue keeps of handled messages, by id. Old items are dropped, and the oldest if there are too many. */
export class MemoryPast<Item extends HandledId> {
  readonly #byId = new Map<string, Ordered<Item>>();
  readonly #newestFirst = new RankedList<Ordered<Item>>();
  #end = 0;

  /** When the last item is too old, ms. */
  get end(): number {
    return this.#end;
  }

  get(id: string): Item | undefined {
    return this.#byId.get(id)?.item;
  }

  /** Adds an item in place of an earlier one with its id. */
  add(item: Item): void {
    this.delete(item.id);
    const ordered = { ...rankOf(item), item };
    this.#byId.set(item.id, ordered);
    this.#newestFirst.add(ordered);
  }

  delete(id: string): void {
    const ordered = this.#byId.get(id);
    if (ordered) this.#newestFirst.remove(ordered);
    this.#byId.delete(id);
  }

  clear(): void {
    for (const id of [...this.#byId.keys()]) this.delete(id);
  }

  /** Drops items that are too old or too many. Returns how many were dropped before their time. */
  trim(now: number, rules: KeptIdRules): number {
    this.#end = now + rules.for;
    let early = 0;
    for (let oldest = this.#oldest; oldest; oldest = this.#oldest) {
      const isTooOld = oldest.handledAt + rules.for <= now;
      if (!isTooOld && this.#byId.size <= rules.max) break;
      this.delete(oldest.id);
      if (!isTooOld) early++;
    }
    return early;
  }

  /** Returns the items that are not too old, newest first, and until when each is kept. */
  scan(now: number): (Item & Pick<ScannedId, 'until'>)[] {
    const all = this.#newestFirst.take(Infinity);
    const keptFor = this.#end - (all[0]?.item.handledAt ?? 0);
    return all.map(({ item }) => ({ ...item, until: item.handledAt + keptFor })).filter(({ until }) => until > now);
  }

  /** Adds an item that another queue has kept. */
  restore(item: Item & Pick<ScannedId, 'until'>, now: number, rules?: KeptIdRules | null): RestoreOutcome {
    const { id, handledAt, until } = item;
    const known = this.get(id);
    if (known && known.handledAt >= handledAt) return 'kept';
    const ends = Math.min(until, handledAt + (rules?.for ?? Infinity));
    const excess = !known && this.#byId.size >= (rules?.max ?? Infinity) ? this.#oldest : undefined;
    if (ends <= now || (excess && excess.handledAt >= handledAt)) return 'dropped';
    if (excess) this.delete(excess.id);
    this.add(item);
    this.#end = Math.max(this.#end, ends);
    return 'created';
  }

  /** Returns items, newest first, from an offset or after a place. */
  newest(from: { readonly offset: number } | HandledId, limit: number): Item[] {
    const found =
      'offset' in from
        ? this.#newestFirst.take(from.offset + limit).slice(from.offset)
        : this.#newestFirst.take(limit, rankOf(from));
    return found.map(({ item }) => item);
  }

  get #oldest(): Item | undefined {
    return this.#newestFirst.last()?.item;
  }
}

const rankOf = ({ id, handledAt }: HandledId): Ranked => ({ rank: -handledAt, name: bytesOf(id) });
