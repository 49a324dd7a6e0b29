import type { MessageSnapshot } from '../message/message.js';
import type { MessagePage } from '../message/page.js';
import type { StoredMessage } from '../store/admin-store.js';
import type { WholeQueue } from '../store/whole-queue.js';
import type { CheckedFilter } from './message-filter.js';

/**
 * One page of a search. It may have fewer messages than `limit`, or none, and still have a cursor.
 * @typeParam Snapshot - the type of a message
 */
export interface SearchPage<Snapshot = MessageSnapshot> extends MessagePage<Snapshot> {
  /** How many messages this call has examined. */
  readonly examined: number;
}

export interface SearchedQueue<Snapshot> {
  readonly store: Pick<WholeQueue, 'list' | 'status'>;
  readonly show: (message: StoredMessage) => Snapshot;
}

/** How many messages one read examines: few, because the server does nothing else meanwhile. */
const PART = 500;
/** A call reads no further part once it has examined so many messages, or so many bytes of them. */
const MAX_EXAMINED = 5000;
const MAX_BYTES = 4 * 1024 * 1024;

/** The messages of one read that match. */
export interface SearchPart<Snapshot> {
  readonly messages: readonly Snapshot[];
  readonly examined: number;
  readonly bytes: number;
  /** Where the search goes on; null if nothing else can match. */
  readonly cursor: string | null;
  readonly missing: readonly number[];
}

export async function searchPage<Snapshot extends MessageSnapshot>(
  queue: SearchedQueue<Snapshot>,
  filter: CheckedFilter,
  { cursor, limit }: { readonly cursor: string | undefined; readonly limit: number },
): Promise<SearchPage<Snapshot>> {
  const messages: Snapshot[] = [];
  const missing = new Set<number>();
  let [examined, bytes] = [0, 0];
  // The first read is small, in case most messages match.
  for (let [from, size] = [cursor, Math.min(limit, PART)]; ; size = PART) {
    const part = await searchPart(queue, filter, { cursor: from, size, room: limit - messages.length });
    messages.push(...part.messages);
    part.missing.forEach((partition) => missing.add(partition));
    examined += part.examined;
    bytes += part.bytes;
    const isOver = messages.length === limit || examined >= MAX_EXAMINED || bytes >= MAX_BYTES;
    if (isOver || part.cursor === null) {
      return { messages, cursor: part.cursor, examined, ...(missing.size > 0 && { missing: sorted(missing) }) };
    }
    from = part.cursor;
  }
}

/**
 * Examines the next messages: at most `size`, and no further than the match that fills the `room`.
 * @param page - `cursor`: undefined: the search begins
 */
export async function searchPart<Snapshot extends MessageSnapshot>(
  { store, show }: SearchedQueue<Snapshot>,
  filter: CheckedFilter,
  {
    cursor = filter.start,
    size = PART,
    room = Infinity,
  }: { cursor?: string | undefined; size?: number; room?: number },
): Promise<SearchPart<Snapshot>> {
  const from = cursor === undefined ? { offset: 0 } : { cursor };
  for (let limit = size; ;) {
    const page = await store.list({ state: filter.state, from, limit });
    const end = page.messages.findIndex((message) => filter.isBehind(message));
    const examined = end < 0 ? page.messages : page.messages.slice(0, end);
    const found = examined.flatMap((message, place) => {
      const snapshot = filter.select(message, show);
      return snapshot ? [{ snapshot, place }] : [];
    });
    if (found.length <= room) {
      return {
        messages: found.map(({ snapshot }) => snapshot),
        examined: examined.length,
        bytes: examined.reduce((sum, { body }) => sum + body.length, 0),
        cursor: end < 0 ? page.cursor : null,
        missing: page.missing ?? [],
      };
    }
    // Only the store knows the cursor behind the last match that fits, so a shorter page must end there.
    limit = found[room - 1]!.place + 1;
  }
}

const sorted = (numbers: Iterable<number>) => [...numbers].sort((one, other) => one - other);
