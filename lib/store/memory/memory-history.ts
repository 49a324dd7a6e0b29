import { isDeepStrictEqual } from 'node:util';
import type { PageRequest, StoredMessage, StoredPage } from '../admin-store.js';
import type { HandledEntry, Handling } from '../consumer-store.js';
import type { HistoryRules } from '../message-store.js';
import type { RestoreOutcome, ScannedEntry } from '../message-past.js';
import { formatCursor, PAGE_BYTES, parseCursor } from '../page-cursor.js';
import { MemoryPast } from './memory-past.js';
import { withinBytes } from './memory-queue.js';
import type { MessageTable } from './message-table.js';

const NO_BYTES = Buffer.alloc(0);

interface Remembered {
  readonly id: string;
  /** When the message was handled, ms. */
  readonly at: number;
  readonly entry: HandledEntry;
  /** Empty unless payloads are kept. */
  readonly body: Buffer;
}

/** What a queue remembers of handled messages. */
export class MemoryHistory {
  readonly #past = new MemoryPast<Remembered>();

  remember(
    handlings: readonly Handling[],
    { now, history, table }: { readonly now: number; readonly history: HistoryRules; readonly table: MessageTable },
  ): void {
    for (const { id, keptAs, entry } of handlings) {
      // It is sent again: its record may be gone from the queue by now.
      if (isDeepStrictEqual(this.#past.get(keptAs)?.entry, entry)) continue;
      const message = history.payloads ? table.get(id) : undefined;
      const isSame = message?.dueAt === entry.dueAt && message.offeredAt === entry.offeredAt;
      this.#past.add({ id: keptAs, at: now, entry, body: isSame ? Buffer.from(message.body) : NO_BYTES });
    }
    this.#past.trim(now, history);
  }

  scan(now: number): ScannedEntry[] {
    return this.#past.scan(now).map(({ item: { id, at, entry, body }, until }) => {
      return { id, handledAt: at, until, entry, body };
    });
  }

  restore(
    { id, handledAt, until, entry, body }: ScannedEntry,
    now: number,
    rules?: HistoryRules | null,
  ): RestoreOutcome {
    return this.#past.restore({ id, at: handledAt, entry, body: Buffer.from(body) }, { until, now, rules });
  }

  find(id: string, now: number): StoredMessage | null {
    const remembered = this.#past.get(id);
    return remembered && now < this.#past.end ? storedOf(remembered) : null;
  }

  page({ from = { offset: 0 }, limit }: PageRequest, now: number): StoredPage {
    const place = placeOf(from);
    const found = now < this.#past.end ? this.#past.page(place, limit + 1) : [];
    const messages = withinBytes(found.slice(0, limit).map(storedOf), PAGE_BYTES);
    const last = messages.at(-1);
    const isLast = messages.length === found.length || !last;
    return { messages, cursor: isLast ? null : formatCursor('handled', `${-last.handling!.at}:${last.id}`) };
  }

  clear(): void {
    this.#past.clear();
  }
}

function placeOf(from: NonNullable<PageRequest['from']>): { readonly offset: number } | { id: string; at: number } {
  if (!('cursor' in from)) return from;
  const { at, name } = parseCursor('handled', from.cursor);
  return { id: name, at: -Number(at) };
}

function storedOf({ id, at, entry, body }: Remembered): StoredMessage {
  const { dueAt, offeredAt, attempt } = entry;
  return {
    ...{ id, state: 'handled', dueAt, offeredAt, failedAttempts: attempt - 1 },
    ...{ body, leasedUntil: null, death: null, handling: { ...entry, at } },
  };
}
