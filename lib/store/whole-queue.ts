import type { MessageCounts, MessageState } from '../message/message.js';
import type { ListedState, PageRequest, QueueStatus, StoredMessage, StoredPage, TypeCountPage } from './admin-store.js';
import type { Incomplete, Reading, Router } from './router.js';
import { writeAll } from './write-all.js';
import { MAX_BATCH } from '../message/page.js';
import { formatCursor, PAGE_BYTES, wrongCursor } from './page-cursor.js';

/**
 * Treats all of a queue's stores as one. Each is read or changed at its own instant. A failed change may have happened in some stores, and
 * can be repeated.
 */
export class WholeQueue {
  constructor(private readonly router: Router) {}

  status(): Promise<QueueStatus> {
    return this.router.read(async (reading) => (await reading.all((store) => store.status())).reduce(add));
  }

  countTypes(cursor?: string): Promise<TypeCountPage> {
    return this.router.read((reading) => countTypesInTurn(reading, cursor));
  }

  countDue(times: readonly number[]): Promise<{ readonly counts: readonly number[] } & Incomplete> {
    return this.router.read(async (reading) => {
      const answers = await reading.all((store) => store.countDue(times));
      const counts = Array.from({ length: times.length + 1 }, (_, i) => answers.reduce((sum, of) => sum + of[i]!, 0));
      return { counts };
    });
  }

  async pause(): Promise<void> {
    await writeAll(this.router, 'pause', (store) => store.pause());
  }

  async resume(): Promise<void> {
    await writeAll(this.router, 'resume', (store) => store.resume());
  }

  clear(): Promise<number> {
    return writeAll(this.router, 'clear', async (store, note) => note(await store.clear()));
  }

  /**
   * Lists delayed, dead and handled messages in one order, by time and id. Lists ready and active ones store by store, because claims of different
   * stores have no order.
   */
  list(request: PageRequest): Promise<StoredPage> {
    const list = hasOneOrder(request.state) ? listMerged : listInTurn;
    return this.router.read((reading) => list(reading, request));
  }
}

const hasOneOrder = (state: ListedState) => state !== 'ready' && state !== 'active';

/** Adds up two statuses. A queue counts as paused until it is resumed everywhere. */
function add(one: QueueStatus, other: QueueStatus): QueueStatus {
  return {
    counts: addCounts(one.counts, other.counts),
    now: Math.max(one.now, other.now),
    nextDue: earlier(one.nextDue, other.nextDue),
    oldestReady: earlier(one.oldestReady, other.oldestReady),
    paused: one.paused || other.paused,
  };
}

function addCounts(one: MessageCounts, other: MessageCounts): MessageCounts {
  return {
    delayed: one.delayed + other.delayed,
    ready: one.ready + other.ready,
    active: one.active + other.active,
    dead: one.dead + other.dead,
  };
}

function earlier(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

/**
 * Lists the delayed, dead or handled messages of all stores in one order. A message's place is a time and a name, with the same meaning in every
 * store, so a cursor fits all stores. To reach an offset, all messages before it are read.
 */
async function listMerged(reading: Reading, { state, from = { offset: 0 }, limit }: PageRequest): Promise<StoredPage> {
  // A single store can skip the messages before an offset without reading them.
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

/** Reads a page from each partition, and returns the messages that certainly come first. */
async function readPart(reading: Reading, request: PageRequest) {
  const { state, limit } = request;
  // Ids spread evenly, so a partition rarely has more than twice its share of the next messages.
  const share = Math.min(limit, Math.ceil(limit / reading.stores.length) * 2 + 8);
  const pages = await reading.all((partition) => partition.list({ ...request, limit: share }));
  const byPlace = (one: StoredMessage, other: StoredMessage) =>
    instantOf(state, one) - instantOf(state, other) ||
    Buffer.compare(Buffer.from(nameOf(one)), Buffer.from(nameOf(other)));
  const found = pages.flatMap(({ messages }) => messages).sort(byPlace);
  // A partition's unread messages come after the last one read from it. So messages up to the earliest of these last ones are certain.
  const [end] = pages.flatMap(({ messages, cursor }) => (cursor === null ? [] : messages.slice(-1))).sort(byPlace);
  const certain = end ? found.filter((message) => byPlace(message, end) <= 0) : found;
  const messages = certain.slice(0, limit);
  return { messages, isLast: !end && messages.length === found.length };
}

/** Returns a number that orders messages of one state. Handled messages come newest first. */
function instantOf(state: ListedState, { dueAt, rank = dueAt, death, handling }: StoredMessage): number {
  if (state === 'handled') return -handling!.at;
  return state === 'dead' ? death!.at : rank;
}

function nameOf({ id, name = id }: StoredMessage): string {
  return name;
}

function cursorAt(state: ListedState, message: StoredMessage): string {
  return formatCursor(state, `${instantOf(state, message)}:${nameOf(message)}`);
}

interface PlaceInTurn {
  readonly partition: number;
  /** The cursor within the partition; undefined: the partition's start. */
  readonly inner?: string | undefined;
}

const BEGIN: PlaceInTurn = { partition: 0 };

function formatPlace({ partition, inner = '' }: PlaceInTurn): string {
  return `${partition}/${inner}`;
}

/** Reads a cursor written by {@link formatPlace}. Any other cursor dates from when the queue had one partition. */
function parsePlace(cursor: string): PlaceInTurn {
  const [, partition, inner] = /^(\d{1,3})\/(.*)$/s.exec(cursor) ?? [];
  if (partition === undefined) return { partition: 0, inner: cursor };
  return { partition: Number(partition), inner: inner === '' ? undefined : inner };
}

/** Stands in for a partition's missing answer. */
const NOTHING = { counts: [], cursor: null };

async function countTypesInTurn(reading: Reading, cursor?: string): Promise<TypeCountPage> {
  const width = reading.stores.length;
  const place = cursor === undefined ? BEGIN : parsePlace(cursor);
  const { partition, inner } = place.partition < width ? place : BEGIN;
  const page = (await reading.one(partition, (store) => store.countTypes(inner))) ?? NOTHING;
  if (page.cursor !== null) return { ...page, cursor: formatPlace({ partition, inner: page.cursor }) };
  return { ...page, cursor: partition + 1 < width ? formatPlace({ partition: partition + 1 }) : null };
}

async function listInTurn(reading: Reading, request: PageRequest): Promise<StoredPage> {
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

/** Returns the partition in which a page begins, and the place within that partition. */
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
    const count = status?.counts[state as MessageState] ?? 0;
    if (offset < count) break;
    offset -= count;
    partition++;
  }
  return { partition, from: { offset } };
}

function bytesOf(messages: readonly StoredMessage[]): number {
  return messages.reduce((bytes, { body }) => bytes + body.length, 0);
}
