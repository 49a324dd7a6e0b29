import { isDeepStrictEqual } from 'node:util';
import type { PageRequest, StoredMessage, StoredPage } from '../admin-store.js';
import type { Handling } from '../consumer-store.js';
import type { HistoryRules } from '../message-store.js';
import type { RestoreOutcome, ScannedEntry } from '../message-past.js';
import { formatCursor, PAGE_BYTES, parseCursor } from '../page-cursor.js';
import { withinBytes } from './memory-queue.js';
import type { MessageTable } from './message-table.js';

const NO_BYTES = Buffer.alloc(0);

/** What a queue remembers of handled messages. */
export class MemoryHistory {
  /** By id, oldest first. */
  readonly #entries = new Map<string, StoredMessage>();
  /** When the last entry is too old, ms. */
  #end = 0;

  remember(
    handlings: readonly Handling[],
    { now, history, table }: { readonly now: number; readonly history: HistoryRules; readonly table: MessageTable },
  ): void {
    for (const { id, keptAs, entry } of handlings) {
      const known = this.#entries.get(keptAs)?.handling;
      // It is sent again: its record may be gone from the queue by now.
      if (known && isDeepStrictEqual({ ...entry, at: known.at }, known)) continue;
      const { dueAt, offeredAt, attempt } = entry;
      const message = history.payloads ? table.get(id) : undefined;
      const isSame = message?.dueAt === dueAt && message.offeredAt === offeredAt;
      this.#entries.delete(keptAs);
      this.#entries.set(keptAs, {
        ...{ id: keptAs, state: 'handled', dueAt, offeredAt, failedAttempts: attempt - 1 },
        body: isSame ? Buffer.from(message.body) : NO_BYTES,
        ...{ leasedUntil: null, death: null, handling: { ...entry, at: now } },
      });
    }
    this.#end = now + history.for;
    for (const [id, { handling }] of this.#entries) {
      if (this.#entries.size <= history.max && handling!.at >= now - history.for) break;
      this.#entries.delete(id);
    }
  }

  scan(now: number): ScannedEntry[] {
    const keptFor = this.#end - Math.max(0, ...[...this.#entries.values()].map(({ handling }) => handling!.at));
    return [...this.#entries.values()].flatMap(({ id, body, handling }) => {
      const { at, ...entry } = handling!;
      const until = at + keptFor;
      return until > now ? [{ id, handledAt: at, until, entry, body }] : [];
    });
  }

  restore(scanned: ScannedEntry, now: number, rules?: HistoryRules | null): RestoreOutcome {
    const { id, handledAt, until, entry, body } = scanned;
    const known = this.#entries.get(id);
    if (known && known.handling!.at >= handledAt) return 'kept';
    const [oldest] = this.#entries.values();
    const isFull = !known && this.#entries.size >= (rules?.max ?? Infinity);
    const ends = Math.min(until, handledAt + (rules?.for ?? Infinity));
    if (ends <= now || (isFull && oldest!.handling!.at >= handledAt)) return 'dropped';
    if (isFull) this.#entries.delete(oldest!.id);
    const { dueAt, offeredAt, attempt } = entry;
    this.#entries.set(id, {
      ...{ id, state: 'handled', dueAt, offeredAt, failedAttempts: attempt - 1 },
      ...{ body: Buffer.from(body), leasedUntil: null, death: null, handling: { ...entry, at: handledAt } },
    });
    const sorted = [...this.#entries.values()].sort((one, other) => -byTime(one, other));
    this.#entries.clear();
    for (const each of sorted) this.#entries.set(each.id, each);
    this.#end = Math.max(this.#end, ends);
    return 'created';
  }

  find(id: string, now: number): StoredMessage | null {
    return now < this.#end ? (this.#entries.get(id) ?? null) : null;
  }

  page({ from = { offset: 0 }, limit }: PageRequest, now: number): StoredPage {
    const kept = now < this.#end ? [...this.#entries.values()].sort(byTime) : [];
    const place = 'cursor' in from ? parseCursor('handled', from.cursor) : undefined;
    const first = place ? kept.findIndex((each) => comesAfter(each, place)) : (from as { offset: number }).offset;
    const found = first < 0 ? [] : kept.slice(first, first + limit);
    const messages = withinBytes(found, PAGE_BYTES);
    const last = messages.at(-1);
    const isLast = first < 0 || first + messages.length >= kept.length;
    return { messages, cursor: isLast || !last ? null : formatCursor('handled', `${-last.handling!.at}:${last.id}`) };
  }

  clear(): void {
    this.#entries.clear();
  }
}

function byTime(one: StoredMessage, other: StoredMessage): number {
  return other.handling!.at - one.handling!.at || Buffer.compare(Buffer.from(one.id), Buffer.from(other.id));
}

function comesAfter({ id, handling }: StoredMessage, place: { readonly at: string; readonly name: string }): boolean {
  const at = Number(place.at);
  return -handling!.at > at || (-handling!.at === at && Buffer.compare(Buffer.from(id), Buffer.from(place.name)) > 0);
}
