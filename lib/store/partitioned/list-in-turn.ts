import type { MessageStore } from '../message-store.js';
import type { PageRequest, StoredMessage, StoredPage, TypeCountPage } from '../message-upkeep.js';
import { PAGE_BYTES, wrongCursor } from '../page-cursor.js';

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

/** Counts the types of one partition after the other. */
export async function countTypesInTurn(partitions: readonly MessageStore[], cursor?: string): Promise<TypeCountPage> {
  const begin: PlaceInTurn = { partition: 0, inner: undefined };
  const { partition, inner } = cursor === undefined ? begin : (readPlace(cursor, partitions.length) ?? begin);
  const page = await partitions[partition]!.countTypes(inner);
  if (page.cursor !== null) return { ...page, cursor: atPlace(partition, page.cursor) };
  return { ...page, cursor: partition + 1 < partitions.length ? atPlace(partition + 1) : null };
}

/** Lists the messages of one partition after the other. */
export async function listInTurn(partitions: readonly MessageStore[], request: PageRequest): Promise<StoredPage> {
  const { state, limit } = request;
  const messages: StoredMessage[] = [];
  let { partition, from } = await startOf(partitions, request);
  for (; partition < partitions.length; partition++) {
    if (messages.length === limit || bytesOf(messages) >= PAGE_BYTES) return { messages, cursor: atPlace(partition) };
    const page = await partitions[partition]!.list({ state, from, limit: limit - messages.length });
    messages.push(...page.messages);
    if (page.cursor !== null) return { messages, cursor: atPlace(partition, page.cursor) };
    from = { offset: 0 };
  }
  return { messages, cursor: null };
}

interface Start {
  readonly partition: number;
  readonly from: NonNullable<PageRequest['from']>;
}

async function startOf(partitions: readonly MessageStore[], { state, from }: PageRequest): Promise<Start> {
  if (from && 'cursor' in from) {
    const place = readPlace(from.cursor, partitions.length);
    if (!place) throw wrongCursor(state);
    const { partition, inner } = place;
    return { partition, from: inner === undefined ? { offset: 0 } : { cursor: inner } };
  }
  let offset = from?.offset ?? 0;
  let partition = 0;
  while (offset > 0 && partition < partitions.length) {
    const count = (await partitions[partition]!.status()).counts[state];
    if (offset < count) break;
    offset -= count;
    partition++;
  }
  return { partition, from: { offset } };
}

function bytesOf(messages: readonly StoredMessage[]): number {
  return messages.reduce((bytes, { body }) => bytes + body.length, 0);
}
