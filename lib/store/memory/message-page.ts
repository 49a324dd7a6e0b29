import type { MessageState } from '../../message/message.js';
import type { PageRequest, StoredMessage, StoredPage } from '../admin-store.js';
import { formatCursor, PAGE_BYTES, parseCursor, type Place } from '../page-cursor.js';
import { withinBytes } from './memory-queue.js';
import type { MemoryMessage, MessageTable } from './message-table.js';

export function listPage(
  table: MessageTable,
  { state, from = { offset: 0 }, limit }: PageRequest & { readonly state: MessageState },
  snapshotOf: (message: MemoryMessage) => StoredMessage,
): StoredPage {
  const behind = 'cursor' in from ? parseCursor(state, from.cursor) : undefined;
  const offset = 'offset' in from ? from.offset : 0;
  const end = offset + limit + 1;
  const read = () => table.list(state, end, behind && { rank: Number(behind.at), id: behind.name });
  const found = (state === 'active' ? listActive(table, behind) : read()).slice(offset, end);
  const listed = withinBytes(found.slice(0, limit), PAGE_BYTES);
  const last = found.length > listed.length ? listed.at(-1) : undefined;
  return { messages: listed.map(snapshotOf), cursor: last ? formatCursor(state, placeOf(last)) : null };
}

/** Lists active messages in the order of claims and ids. Their ranks give no stable order, because extending a lease changes them. */
function listActive(table: MessageTable, behind: Place | undefined): MemoryMessage[] {
  const place = Buffer.from(behind?.name ?? '');
  return table
    .list('active', table.count('active'))
    .filter((message) => Buffer.compare(claimAndId(message), place) > 0)
    .sort((a, b) => Buffer.compare(claimAndId(a), claimAndId(b)));
}

function claimAndId({ token, id }: MemoryMessage): Buffer {
  return Buffer.from(`${token}\n${id}`);
}

function placeOf(message: MemoryMessage): string {
  return message.state === 'active' ? `:${claimAndId(message).toString()}` : `${message.rank}:${message.id}`;
}
