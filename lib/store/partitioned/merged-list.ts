import type { MessageState } from '../../message/message.js';
import { MAX_BATCH } from '../../timing/turn-batcher.js';
import type { PageRequest, StoredMessage, StoredPage } from '../admin-store.js';
import { formatCursor, PAGE_BYTES } from '../page-cursor.js';
import type { Reading } from './reading.js';

/**
 * Lists the delayed or dead messages of all partitions in one order. A message's place is an instant and its name, which mean the same in
 * every partition, so a cursor is as good for all partitions as for one. An offset is walked to.
 */
export async function listMerged(
  reading: Reading,
  { state, from = { offset: 0 }, limit }: PageRequest,
): Promise<StoredPage> {
  // It need not walk to an offset.
  const [only, ...others] = reading.stores;
  if (others.length === 0) return only!.list({ state, from, limit });
  let cursor = 'cursor' in from ? from.cursor : undefined;
  let toPass = 'cursor' in from ? 0 : from.offset;
  const listed: StoredMessage[] = [];
  let bytes = 0;
  for (;;) {
    const most = Math.min(MAX_BATCH, toPass + limit - listed.length);
    const part = await readPart(reading, { state, limit: most, ...(cursor !== undefined && { from: { cursor } }) });
    for (const message of part.messages.slice(toPass)) {
      bytes += message.body.length;
      const last = listed.at(-1);
      if (last && bytes > PAGE_BYTES) return { messages: listed, cursor: cursorAt(state, last) };
      listed.push(message);
    }
    toPass = Math.max(0, toPass - part.messages.length);
    if (part.isLast) return { messages: listed, cursor: null };
    cursor = cursorAt(state, part.messages.at(-1)!);
    if (listed.length === limit) return { messages: listed, cursor };
  }
}

/** Reads a page of each partition, and takes what is certain to come first. */
async function readPart(reading: Reading, request: PageRequest) {
  const { state, limit } = request;
  // Ids spread evenly, so a partition has hardly more of the next messages than twice its share.
  const share = Math.min(limit, Math.ceil(limit / reading.stores.length) * 2 + 8);
  const pages = await reading.all((partition) => partition.list({ ...request, limit: share }));
  const byPlace = (one: StoredMessage, other: StoredMessage) =>
    instantOf(state, one) - instantOf(state, other) ||
    Buffer.compare(Buffer.from(nameOf(one)), Buffer.from(nameOf(other)));
  const found = pages.flatMap(({ messages }) => messages).sort(byPlace);
  // What follows in a partition that has more comes after the last one that was read of it.
  const [end] = pages.flatMap(({ messages, cursor }) => (cursor === null ? [] : messages.slice(-1))).sort(byPlace);
  const certain = end ? found.filter((message) => byPlace(message, end) <= 0) : found;
  const messages = certain.slice(0, limit);
  return { messages, isLast: !end && messages.length === found.length };
}

function instantOf(state: MessageState, { dueAt, rank = dueAt, death }: StoredMessage): number {
  return state === 'dead' ? death!.at : rank;
}

function nameOf({ id, name = id }: StoredMessage): string {
  return name;
}

function cursorAt(state: MessageState, message: StoredMessage): string {
  return formatCursor(state, `${instantOf(state, message)}:${nameOf(message)}`);
}
