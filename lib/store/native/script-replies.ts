import { hasCode } from '../../message/failure.js';
import type { MessageState } from '../../message/message.js';
import { isErrorReply } from '../../redis/redis-errors.js';
import type { ScriptReply } from '../../redis/script/script-call.js';
import type {
  ClaimedMessage,
  ClaimedTransfer,
  ClaimReport,
  DueListener,
  HandledEntry,
  SettleReport,
  TransferReport,
} from '../consumer-store.js';
import type {
  Follower,
  MessageDeath,
  ScannedEntry,
  ScannedId,
  ScannedMessage,
  ScannedPage,
  ScannedPast,
} from '../message-past.js';
import type { OfferOutcome, OfferReceipt } from '../producer-store.js';
import type {
  ListedState,
  QueueStatus,
  RepairReport,
  StoredMessage,
  StoredPage,
  TypeCountPage,
} from '../admin-store.js';
import { formatCursor } from '../page-cursor.js';
import { Repartitioned } from '../router.js';

export function readReceipts(reply: ScriptReply, offers: number): OfferReceipt[] {
  const receipts: { outcome: OfferOutcome; dueAt: number }[] = [];
  for (let i = 0; i < offers; i++) receipts.push({ outcome: 'created', dueAt: reply.number() });
  while (!reply.done) receipts[reply.number() - 1]!.outcome = reply.text() as OfferOutcome;
  const { notCopied } = reply;
  return notCopied ? receipts.map((receipt) => ({ ...receipt, notCopied })) : receipts;
}

export function readClaimReport(reply: ScriptReply): ClaimReport {
  const more = reply.flag();
  const now = reply.number() / 1000;
  const claimAgainIn = reply.number();
  const report = { ...readTaken(reply), more, now };
  return claimAgainIn < 0 ? report : { ...report, claimAgainIn: claimAgainIn / 1000 };
}

function readTaken(reply: ScriptReply): Pick<ClaimReport, 'messages' | 'orphans'> {
  const failed = reply.text();
  const failedAttempts = failed === '' ? [] : failed.split(' ').map(Number);
  const messages: ClaimedMessage[] = [];
  const orphans: string[] = [];
  for (let i = 0; !reply.done; i++) {
    const id = reply.text();
    const record = reply.bytesOrNull();
    if (!record) {
      orphans.push(id);
      continue;
    }
    // Fields are named on this hot path because spreading them is measurably slower.
    const { body, dueAt, offeredAt } = readRecord(record);
    messages.push({ id, body, failedAttempts: failedAttempts[i] ?? 0, dueAt, offeredAt });
  }
  return { messages, orphans };
}

export function readRepairReport(reply: ScriptReply): RepairReport {
  const cursor = reply.text();
  const ids = () => reply.list((list) => list.text());
  return { cursor: cursor === '' ? null : cursor, ready: ids(), delayed: ids() };
}

export function readQueueStatus(reply: ScriptReply): QueueStatus {
  const counts = { delayed: reply.number(), ready: reply.number(), active: reply.number(), dead: reply.number() };
  const now = reply.number();
  const nextDue = reply.number();
  const oldestReady = reply.number();
  const paused = reply.flag();
  return {
    counts,
    now,
    nextDue: nextDue < 0 ? null : nextDue,
    oldestReady: oldestReady < 0 ? null : oldestReady,
    paused,
  };
}

export function readTypeCounts(reply: ScriptReply): TypeCountPage {
  const cursor = reply.text();
  const counts = reply.rest(() => ({
    state: reply.text() as MessageState,
    type: reply.text(),
    count: reply.number(),
  }));
  return { counts, cursor: cursor === '' ? null : cursor };
}

export function readStoredPage(state: ListedState, reply: ScriptReply): StoredPage {
  const place = reply.text();
  const messages = reply.rest(() => readListed(state, reply));
  return { messages, cursor: place === '' ? null : formatCursor(state, place) };
}

/** Reads a listed message. A damaged message lacks some fields, but must not hide other messages. */
function readListed(state: ListedState, reply: ScriptReply): StoredMessage {
  const name = reply.text();
  const id = name.slice(name.indexOf('\n') + 1);
  const bytes = reply.bytesOrNull() ?? NO_BYTES;
  const failedAttempts = reply.number();
  const { at, error } = readDeath(reply);
  if (state === 'handled') return readHandled(id, bytes, at);
  const record = readRecord(bytes);
  const dueAt = state === 'delayed' && at > 0 ? at : record.dueAt;
  return {
    id,
    state,
    ...record,
    // The due time that orders the message, even if its record is damaged.
    dueAt: Math.floor(dueAt),
    ...(dueAt % 1 > 0 && { rank: dueAt }),
    ...(name !== id && { name }),
    failedAttempts,
    leasedUntil: state === 'active' ? at : null,
    death: state === 'dead' ? { at, error } : null,
  };
}

/**
 * Reads what `lua/remember.lua` has stored. A damaged entry lacks some fields, but must not hide other entries.
 * @param rank - minus the time at which the message was handled, if known
 */
export function readHandled(id: string, bytes: Buffer, rank?: number): StoredMessage {
  const end = bytes.indexOf('\n');
  const [, at, text] = /^(\d+) (.*)$/s.exec(bytes.toString('utf8', 0, Math.max(0, end))) ?? [];
  const entry: HandledEntry = { ...NO_ENTRY, ...readEntry(text) };
  const { dueAt, offeredAt, attempt } = entry;
  const { body } = readRecord(bytes, end + 1);
  const handling = { ...entry, at: rank === undefined ? Number(at ?? 0) : -rank };
  return { id, state: 'handled', body, dueAt, offeredAt, failedAttempts: attempt - 1, ...NOT_STORED, handling };
}

const NOT_STORED = { leasedUntil: null, death: null };
const NO_ENTRY: HandledEntry = {
  dueAt: 0,
  offeredAt: 0,
  lateness: 0,
  took: 0,
  attempt: 1,
  worker: { id: '', host: '', pid: 0 },
};

function readEntry(text = ''): Partial<HandledEntry> | undefined {
  try {
    return JSON.parse(text) as Partial<HandledEntry>;
  } catch {
    return undefined;
  }
}

export function readDeath(reply: ScriptReply): MessageDeath {
  return { at: reply.decimal(), error: reply.bytesOrNull()?.toString() ?? UNKNOWN_ERROR };
}

const NO_BYTES = Buffer.alloc(0);
const UNKNOWN_ERROR = JSON.stringify({ name: 'Unknown', message: 'The error of this dead letter is lost.' });

/** Reads a transfer report, and the server's time when it was made, ms. */
export function readTransferReport(reply: ScriptReply): { now: number; report: TransferReport } {
  const counts = {
    moved: reply.number(),
    recovered: reply.number(),
    deadLettered: reply.list((list) => list.text()),
    dropped: reply.number(),
    more: reply.flag(),
    ready: reply.number(),
  };
  const now = reply.number() / 1000;
  return { now, report: { ...counts, ...nextWork(reply.number(), now), at: now } };
}

/** Reads a claimed transfer. Undefined if the script did nothing because a condition was not met. */
export function readClaimedTransfer(reply: ScriptReply): ClaimedTransfer | undefined {
  if (reply.done) return undefined;
  const next = reply.number();
  const now = reply.number() / 1000;
  const more = reply.flag();
  const taken = readTaken(reply);
  const moved = taken.messages.length;
  const report = { moved, recovered: 0, deadLettered: [], dropped: 0, more, ready: 0, ...nextWork(next, now), at: now };
  return { report, claimed: { ...taken, more: false, now } };
}

export function readSettleReport(reply: ScriptReply, settlements: number): SettleReport {
  const dropped = reply.number();
  const accepted = new Array<boolean>(settlements).fill(true);
  while (!reply.done) accepted[reply.number() - 1] = false;
  return { dropped, accepted };
}

/** Reads the reply of `lua/settle-and-keep.lua`. */
export function readKeepingReport(reply: ScriptReply, settlements: number): SettleReport {
  const idsDropped = reply.number();
  return { ...readSettleReport(reply, settlements), idsDropped };
}

export function readFound(id: string, reply: ScriptReply): StoredMessage | null {
  if (reply.done) return null;
  const state = reply.text() as MessageState;
  const record = readRecord(reply.bytes());
  const failedAttempts = reply.number();
  const leasedUntil = state === 'active' ? reply.number() : null;
  const death = state === 'dead' ? readDeath(reply) : null;
  const comesBack = !reply.done && { dueAt: reply.number() };
  return { id, state, ...record, ...comesBack, failedAttempts, leasedUntil, death };
}

export function readScannedPage(reply: ScriptReply): ScannedPage {
  const cursor = reply.text();
  const messages = reply.rest(() => readScanned(reply));
  return { messages, cursor: cursor === '' ? null : cursor };
}

function readScanned(reply: ScriptReply): ScannedMessage {
  const id = reply.text();
  const state = reply.text() as MessageState;
  const record = readRecord(reply.bytes());
  const failedAttempts = reply.number();
  const score = reply.text();
  const isHeld = reply.flag();
  const death = readDeath(reply);
  const follower = reply.bytesOrNull();
  return {
    ...{ id, state, ...record, failedAttempts, isHeld },
    ...(score !== '' && { rank: Number(score) }),
    death: state === 'dead' ? death : null,
    ...(follower && { follower: readFollower(follower) }),
  };
}

export function readScannedHistory(reply: ScriptReply): ScannedPast<ScannedEntry> {
  const cursor = reply.text();
  const keptFor = reply.number();
  const found = reply.rest((): ScannedEntry => {
    const { id, body, handling } = readHandled(reply.text(), reply.bytes());
    const { at: handledAt, ...entry } = handling!;
    return { id, handledAt, until: handledAt + keptFor, entry, body };
  });
  return { found, cursor: cursor === '' ? null : cursor };
}

/** @param size - how many ids a page has, unless it is the last one */
export function readScannedIds(reply: ScriptReply, size: number): ScannedPast<ScannedId> {
  const keptFor = reply.number();
  const found = reply.rest((): ScannedId => {
    const [id, handledAt] = [reply.text(), reply.number()];
    return { id, handledAt, until: handledAt + keptFor };
  });
  const last = found.at(-1);
  return { found, cursor: last && found.length === size ? `${last.handledAt}:${last.id}` : null };
}

/** Reads a follower as `lua/modules/followers.lua` describes it. One in another form was written by somebody else, and is due at once. */
function readFollower(bytes: Buffer): Follower {
  const end = bytes.indexOf('\n');
  const [, kind, ms] = /^([+@])(\d+)$/.exec(bytes.toString('latin1', 0, Math.max(0, end))) ?? [];
  if (kind === undefined) return { due: { after: 0 }, body: bytes };
  return { due: kind === '+' ? { after: Number(ms) } : { at: Number(ms) }, body: bytes.subarray(end + 1) };
}

/** Reads a refusal by `lua/modules/partitioning.lua`; undefined for any other error. */
export function repartitioned(error: unknown): Repartitioned | undefined {
  if (!hasCode(error, 'STORE_REFUSED') || !isErrorReply(error.cause)) return undefined;
  const [, partitioning] = /^REPARTITIONED (\d+(?: \d+)+)\b/.exec(error.cause.message) ?? [];
  return partitioning === undefined ? undefined : new Repartitioned(partitioning);
}

/** A record starts with the due time and the time of the offer, each 48-bit big-endian milliseconds (`lua/modules/record.lua`). */
const DUE_BYTES = 6;
const PREFIX_BYTES = 12;

/** Returns the bytes with which a record with these times starts. */
export function recordStart({ dueAt, offeredAt }: Pick<NativeRecord, 'dueAt' | 'offeredAt'>): Buffer {
  const bytes = Buffer.alloc(PREFIX_BYTES);
  bytes.writeUIntBE(dueAt, 0, DUE_BYTES);
  bytes.writeUIntBE(offeredAt, DUE_BYTES, PREFIX_BYTES - DUE_BYTES);
  return bytes;
}

export interface NativeRecord {
  readonly dueAt: number;
  readonly offeredAt: number;
  readonly body: Buffer;
}

/** Reads six bytes. The methods of `Buffer` would check their arguments at each call, and allocate for it. */
function readTime(bytes: Buffer, start: number): number {
  let time = 0;
  for (let at = start; at < start + DUE_BYTES; at++) time = time * 256 + bytes[at]!;
  return time;
}

/** Reads a record from a range of bytes. A value shorter than a record was written by somebody else and becomes the body. */
export function readRecord(bytes: Buffer, start = 0, end = bytes.length): NativeRecord {
  if (end - start < PREFIX_BYTES) return { dueAt: 0, offeredAt: 0, body: bytes.subarray(start, end) };
  return {
    dueAt: readTime(bytes, start),
    offeredAt: readTime(bytes, start + DUE_BYTES),
    body: bytes.subarray(start + PREFIX_BYTES, end),
  };
}

/**
 * Announcements on a queue's channel, as strings written by scripts. A server's databases share channels, so due times and transfers end
 * with the database's number, and those of other databases are ignored. Announcements without a number come from an older version, in any
 * database; a needless one costs at most a transfer that moves nothing. An abort names a claim's token, which is unique.
 */

export const NEVER = -1;

/** Announces that limits of the queue were set or removed. Processes of all databases read them again. */
export const LIMITS_CHANGED = 'limits';

type Listener = Omit<DueListener, 'onListening'>;

/** Passes on an announcement, and ignores kinds unknown to this version. @param database - the listener's own, as announcements name it */
export function readAnnouncement(text: string, database: string, listener: Listener): void {
  const words = text.split(' ');
  if (words[0] === 'transfer') readTransfer(words, database, listener);
  else if (words[0] === 'abort') readAbort(words, listener);
  else readDue(words, database, listener);
}

function readDue([dueAt, dueIn, of]: readonly string[], database: string, listener: Listener): void {
  const due = { dueAt: Number(dueAt), dueIn: Number(dueIn) };
  if (isForeign(of, database) || !Object.values(due).every(Number.isFinite)) return;
  listener.onEarlierDue(due);
}

function readTransfer([, scheduler, ...words]: readonly string[], database: string, listener: Listener): void {
  const [movedAt, ready, now, nextAt] = words.map(Number);
  const of = words[4];
  const isReadable = scheduler !== undefined && [movedAt, ready, now, nextAt].every(Number.isFinite);
  if (!isReadable || isForeign(of, database) || !listener.onTransfer) return;
  const at = now! / 1000;
  const next = nextWork(nextAt!, at);
  if (of !== undefined) {
    listener.onTransfer({ scheduler, at, movedAt: movedAt === NEVER ? null : movedAt! / 1000, ready: ready!, ...next });
  } else if (nextAt !== NEVER) {
    listener.onEarlierDue({ dueAt: nextAt!, dueIn: Math.max(0, nextAt! - at) });
  }
}

/** Passes on an abort. Everything after the token is the id, which may contain spaces. */
function readAbort([, token, ...words]: readonly string[], listener: Listener): void {
  if (token !== undefined && words.length > 0) listener.onAbort?.({ token, id: words.join(' ') });
}

function isForeign(of: string | undefined, database: string): boolean {
  return of !== undefined && of !== database;
}

/** Converts a script's next instant of work, or {@link NEVER}, to the fields of a report. */
export function nextWork(nextAt: number, now: number): Pick<TransferReport, 'nextAt' | 'nextIn'> {
  return nextAt === NEVER ? { nextAt: null, nextIn: null } : { nextAt, nextIn: Math.max(0, nextAt - now) };
}
