import type { MessageState } from '../../message/message.js';
import type { StoredPage, PageRequest, StoredMessage } from '../message-upkeep.js';
import { formatCursor, PAGE_BYTES, parseCursor, type Place } from '../page-cursor.js';
import { withinBytes } from './memory-queue.js';
import type { MemoryMessage, MessageTable } from './message-table.js';

/** Lists a page of the messages in a table. */
export function listPage(
  table: MessageTable,
  { state, from = { offset: 0 }, limit }: PageRequest,
  snapshotOf: (message: MemoryMessage) => StoredMessage,
): StoredPage {
  const behind = 'cursor' in from ? parseCursor(state, from.cursor) : undefined;
  const offset = 'offset' in from ? from.offset : 0;
  const read = state === 'active' ? listActive : listRanked;
  const found = read({ table, state, behind, most: offset + limit + 1 }).slice(offset);
  const listed = withinBytes(found.slice(0, limit), PAGE_BYTES);
  const last = found.length > listed.length ? listed.at(-1) : undefined;
  return { messages: listed.map(snapshotOf), cursor: last ? formatCursor(state, placeOf(last)) : null };
}

interface Selection {
  readonly table: MessageTable;
  readonly state: MessageState;
  readonly behind: Place | undefined;
  readonly most: number;
}

function listRanked({ table, state, behind, most }: Selection): MemoryMessage[] {
  return table.list(state, most, behind && { rank: Number(behind.at), id: behind.name });
}

/** By claim and id, because leases change their rank. */
function listActive({ table, behind, most }: Selection): MemoryMessage[] {
  const all = table.list('active', table.count('active'));
  const sorted = all.sort((a, b) => Buffer.compare(claimAndId(a), claimAndId(b)));
  if (behind === undefined) return sorted.slice(0, most);
  const place = Buffer.from(behind.name);
  return sorted.filter((message) => Buffer.compare(claimAndId(message), place) > 0).slice(0, most);
}

function claimAndId({ token, id }: MemoryMessage): Buffer {
  return Buffer.from(`${token}\n${id}`);
}

function placeOf(message: MemoryMessage): string {
  return message.state === 'active' ? `:${claimAndId(message).toString()}` : `${message.rank}:${message.id}`;
}
