import type { MessageSnapshot } from '../message/message.js';
import type { MessagePage } from '../message/page.js';
import type { StoredMessage } from '../store/admin-store.js';
import type { WholeQueue } from '../store/whole-queue.js';
import { Examined, PART } from './examined.js';
import type { CheckedFilter } from './message-filter.js';

/**
 * One page of a search. It may have fewer messages than `limit`, or none, and still have a cursor.
 * @typeParam Snapshot - the type of a message
 */
export interface SearchPage<Snapshot = MessageSnapshot> extends MessagePage<Snapshot> {
  /** How many messages this call has examined. */
  readonly examined: number;
  /** How many of them could not be searched for the filter's `text`, because this process cannot decrypt them; absent if there are none. */
  readonly encrypted?: number;
}

export interface SearchedQueue<Snapshot> {
  readonly store: Pick<WholeQueue, 'list' | 'status'>;
  readonly show: (message: StoredMessage) => Snapshot;
}

interface SearchStep {
  /** The cursor of the previous part; undefined: the search begins. */
  readonly cursor: string | undefined;
  /** The maximum number of messages to examine. Default: {@link PART}. */
  readonly size?: number;
  /** The maximum number of matches. Default: all. */
  readonly room?: number;
  /** The time of death after which dead letters are left out. */
  readonly lastDeath?: number;
}

/** What one read has found. */
export interface SearchPart<Snapshot> {
  readonly messages: readonly Snapshot[];
  readonly examined: readonly StoredMessage[];
  /** How many of them could not be searched. */
  readonly encrypted: number;
  /** Where the search goes on; null if nothing else can match. */
  readonly cursor: string | null;
  readonly missing?: readonly number[] | undefined;
}

export async function searchPage<Snapshot extends MessageSnapshot>(
  queue: SearchedQueue<Snapshot>,
  filter: CheckedFilter,
  { cursor, limit }: { readonly cursor: string | undefined; readonly limit: number },
): Promise<SearchPage<Snapshot>> {
  const messages: Snapshot[] = [];
  const examined = new Examined();
  // The first read is small, in case most messages match.
  for (let [from, size] = [cursor, Math.min(limit, PART)]; ; size = PART) {
    const part = await searchPart(queue, filter, { cursor: from, size, room: limit - messages.length });
    messages.push(...part.messages);
    examined.add(part);
    if (part.cursor === null || messages.length === limit || examined.isEnough) {
      return { messages, cursor: part.cursor, examined: examined.count, ...examined.notes };
    }
    from = part.cursor;
  }
}

/** Examines the next messages, but none behind the match that fills the `room`. */
export async function searchPart<Snapshot extends MessageSnapshot>(
  { store, show }: SearchedQueue<Snapshot>,
  filter: CheckedFilter,
  { cursor = filter.start, size = PART, room = Infinity, lastDeath = Infinity }: SearchStep,
): Promise<SearchPart<Snapshot>> {
  const from = cursor === undefined ? { offset: 0 } : { cursor };
  for (let limit = size; ;) {
    const page = await store.list({ state: filter.state, from, limit });
    const isBehind = (message: StoredMessage) => filter.isBehind(message) || (message.death?.at ?? 0) > lastDeath;
    const end = page.messages.findIndex(isBehind);
    const examined = end < 0 ? page.messages : page.messages.slice(0, end);
    let encrypted = 0;
    const found = examined.flatMap((message, place) => {
      const snapshot = filter.select(message, show);
      if (snapshot === 'encrypted') encrypted++;
      return snapshot && snapshot !== 'encrypted' ? [{ snapshot, place }] : [];
    });
    if (found.length <= room) {
      const messages = found.map(({ snapshot }) => snapshot);
      return { messages, examined, encrypted, cursor: end < 0 ? page.cursor : null, missing: page.missing };
    }
    // Only the store knows the cursor behind the last match that fits, so a shorter page must end there.
    limit = found[room - 1]!.place + 1;
  }
}
