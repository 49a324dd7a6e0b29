import type { PageRequest, StoredMessage, StoredPage, TypeCountPage } from '../message-upkeep.js';
import { PAGE_BYTES, wrongCursor } from '../page-cursor.js';
import type { Reading } from './reading.js';

/** Where a walk through one partition after the other goes on. */
interface PlaceInTurn {
  readonly partition: number;
  /** The cursor in that partition; undefined: at its beginning. */
  readonly inner: string | undefined;
}

/** @param inner - the cursor in that partition; default: at its beginning */
function atPlace(partition: number, inner = ''): string {
  return `${partition}/${inner}`;
}

/**
 * Reads a cursor that {@link atPlace} wrote. Any other is one of the only partition that there was before.
 *
 * @returns undefined if there is no such partition
 */
function readPlace(cursor: string, partitions: number): PlaceInTurn | undefined {
  const [, partition, inner] = /^(\d{1,3})\/(.*)$/s.exec(cursor) ?? [];
  if (partition === undefined) return { partition: 0, inner: cursor };
  if (Number(partition) >= partitions) return undefined;
  return { partition: Number(partition), inner: inner === '' ? undefined : inner };
}

/** What a partition without an answer has. */
const NOTHING = { counts: [], cursor: null };

/** Counts the types of one partition after the other. */
export async function countTypesInTurn(reading: Reading, cursor?: string): Promise<TypeCountPage> {
  const width = reading.stores.length;
  const begin: PlaceInTurn = { partition: 0, inner: undefined };
  const { partition, inner } = cursor === undefined ? begin : (readPlace(cursor, width) ?? begin);
  const page = (await reading.one(partition, (store) => store.countTypes(inner))) ?? NOTHING;
  if (page.cursor !== null) return { ...page, cursor: atPlace(partition, page.cursor) };
  return { ...page, cursor: partition + 1 < width ? atPlace(partition + 1) : null };
}

/** Lists the messages of one partition after the other. */
export async function listInTurn(reading: Reading, request: PageRequest): Promise<StoredPage> {
  const { state, limit } = request;
  const messages: StoredMessage[] = [];
  let { partition, from } = await startOf(reading, request);
  for (; partition < reading.stores.length; partition++) {
    if (messages.length === limit || bytesOf(messages) >= PAGE_BYTES) return { messages, cursor: atPlace(partition) };
    const rest = { state, from, limit: limit - messages.length };
    const page = await reading.one(partition, (store) => store.list(rest));
    messages.push(...(page?.messages ?? []));
    if (page && page.cursor !== null) return { messages, cursor: atPlace(partition, page.cursor) };
    from = { offset: 0 };
  }
  return { messages, cursor: null };
}

interface Start {
  readonly partition: number;
  readonly from: NonNullable<PageRequest['from']>;
}

async function startOf(reading: Reading, { state, from }: PageRequest): Promise<Start> {
  if (from && 'cursor' in from) {
    const place = readPlace(from.cursor, reading.stores.length);
    if (!place) throw wrongCursor(state);
    const { partition, inner } = place;
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
