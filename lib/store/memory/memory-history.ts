import { isDeepStrictEqual } from 'node:util';
import type { PageRequest, StoredMessage, StoredPage } from '../admin-store.js';
import type { Handling } from '../consumer-store.js';
import type { HistoryRules } from '../message-store.js';
import type { RestoreOutcome, ScannedEntry } from '../message-past.js';
import { formatCursor, PAGE_BYTES, parseCursor } from '../page-cursor.js';
import { type HandledId, MemoryPast } from './memory-past.js';
import { withinBytes } from './memory-queue.js';
import type { MessageTable } from './message-table.js';

const NO_BYTES = Buffer.alloc(0);

type Remembered = Omit<ScannedEntry, 'until'>;

/** What a queue remembers of handled messages. */
export class MemoryHistory extends MemoryPast<Remembered> {
  remember(
    handlings: readonly Handling[],
    { now, history, table }: { readonly now: number; readonly history: HistoryRules; readonly table: MessageTable },
  ): void {
    for (const { id, keptAs, entry } of handlings) {
      // It is sent again: its record may be gone from the queue by now.
      if (isDeepStrictEqual(this.get(keptAs)?.entry, entry)) continue;
      const message = history.payloads ? table.get(id) : undefined;
      const isSame = message?.dueAt === entry.dueAt && message.offeredAt === entry.offeredAt;
      this.add({ id: keptAs, handledAt: now, entry, body: isSame ? Buffer.from(message.body) : NO_BYTES });
    }
    this.trim(now, history);
  }

  override restore(entry: ScannedEntry, now: number, rules?: HistoryRules | null): RestoreOutcome {
    return super.restore({ ...entry, body: Buffer.from(entry.body) }, now, rules);
  }

  find(id: string, now: number): StoredMessage | null {
    const remembered = this.get(id);
    return remembered && now < this.end ? storedOf(remembered) : null;
  }

  page({ from = { offset: 0 }, limit }: PageRequest, now: number): StoredPage {
    const place = placeOf(from);
    const found = now < this.end ? this.newest(place, limit + 1) : [];
    const messages = withinBytes(found.slice(0, limit).map(storedOf), PAGE_BYTES);
    const last = messages.at(-1);
    const isLast = messages.length === found.length || !last;
    return { messages, cursor: isLast ? null : formatCursor('handled', `${-last.handling!.at}:${last.id}`) };
  }
}

function placeOf(from: NonNullable<PageRequest['from']>): { readonly offset: number } | HandledId {
  if (!('cursor' in from)) return from;
  const { at, name } = parseCursor('handled', from.cursor);
  return { id: name, handledAt: -Number(at) };
}

function storedOf({ id, handledAt: at, entry, body }: Remembered): StoredMessage {
  const { dueAt, offeredAt, attempt } = entry;
  return {
    ...{ id, state: 'handled', dueAt, offeredAt, failedAttempts: attempt - 1 },
    ...{ body, leasedUntil: null, death: null, handling: { ...entry, at } },
  };
}
