import type { PageRequest, StoredMessage, StoredPage, TypeCountPage } from '../admin-store.js';
import { PAGE_BYTES, wrongCursor } from '../page-cursor.js';
import type { Reading } from './reading.js';

/** Where a walk through one partition after the other goes on. */
interface PlaceInTurn {
  readonly partition: number;
  /** The cursor in that partition; undefined: at its beginning. */
  readonly inner?: string | undefined;
}

const BEGIN: PlaceInTurn = { partition: 0 };

function formatPlace({ partition, inner = '' }: PlaceInTurn): string {
  return `${partition}/${inner}`;
}

/** Reads a cursor that {@link formatPlace} wrote. Any other is one of the only partition that there was before. */
function parsePlace(cursor: string): PlaceInTurn {
  const [, partition, inner] = /^(\d{1,3})\/(.*)$/s.exec(cursor) ?? [];
  if (partition === undefined) return { partition: 0, inner: cursor };
  return { partition: Number(partition), inner: inner === '' ? undefined : inner };
}

/** What a partition without an answer has. */
const NOTHING = { counts: [], cursor: null };

/** Counts the types of one partition after the other. */
export async function countTypesInTurn(reading: Reading, cursor?: string): Promise<TypeCountPage> {
  const width = reading.stores.length;
  const place = cursor === undefined ? BEGIN : parsePlace(cursor);
  const { partition, inner } = place.partition < width ? place : BEGIN;
  const page = (await reading.one(partition, (store) => store.countTypes(inner))) ?? NOTHING;
  if (page.cursor !== null) return { ...page, cursor: formatPlace({ partition, inner: page.cursor }) };
  return { ...page, cursor: partition + 1 < width ? formatPlace({ partition: partition + 1 }) : null };
}

/** Lists the messages of one partition after the other. */
export async function listInTurn(reading: Reading, request: PageRequest): Promise<StoredPage> {
  const { state, limit } = request;
  const messages: StoredMessage[] = [];
  let { partition, from } = await startOf(reading, request);
  for (; partition < reading.stores.length; partition++) {
    if (messages.length === limit || bytesOf(messages) >= PAGE_BYTES) break;
    const rest = { state, from, limit: limit - messages.length };
    const page = await reading.one(partition, (store) => store.list(rest));
    messages.push(...(page?.messages ?? []));
    if (page && page.cursor !== null) return { messages, cursor: formatPlace({ partition, inner: page.cursor }) };
    from = { offset: 0 };
  }
  return { messages, cursor: partition < reading.stores.length ? formatPlace({ partition }) : null };
}

/** In which partition a page begins, and where in there. */
async function startOf(reading: Reading, { state, from }: PageRequest) {
  if (from && 'cursor' in from) {
    const { partition, inner } = parsePlace(from.cursor);
    if (partition >= reading.stores.length) throw wrongCursor(state);
    return { partition, from: inner === undefined ? { offset: 0 } : { cursor: inner } };
  }
  let offset = from?.offset ?? 0;
  let partition = 0;
  while (offset > 0 && partition < reading.stores.length) {
    const status = await reading.one(partition, (store) => store.status());
    const count = status?.counts[state] ?? 0;
    if (offset < count) break;
    offset -= count;
    partition++;
  }
  return { partition, from: { offset } };
}

function bytesOf(messages: readonly StoredMessage[]): number {
  return messages.reduce((bytes, { body }) => bytes + body.length, 0);
}
