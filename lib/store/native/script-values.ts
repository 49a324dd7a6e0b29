import type { MessageBody } from '../../codec/message-codec.js';
import {
  type ClaimedMessage,
  type ClaimReport,
  type ClaimRequest,
  type Outcome,
  type Settlement,
  type TransferReport,
  type TransferRequest,
  LEASE_EXPIRED,
} from '../message-flow.js';
import type { DueTime, Offer, OfferOutcome, OfferReceipt } from '../message-intake.js';
import type { StoreLimits } from '../message-store.js';
import type { MessageState } from '../../message/message.js';
import type {
  MessageDeath,
  StoredPage,
  PageRequest,
  QueueStatus,
  RepairReport,
  StoredMessage,
  TypeCountPage,
} from '../message-upkeep.js';
import { formatCursor, parseCursor } from '../page-cursor.js';
import type { ScriptArgument, ScriptCall } from '../redis/script-call.js';
import type { ScriptReply } from '../redis/script-reply.js';
import { readRecord } from './native.record.js';

/* The arguments and replies of scripts that more than one layout has. */

/** The arguments of all offers, one after the other. */
export function offerArguments(offers: readonly Offer[]): ScriptArgument[] {
  const args: ScriptArgument[] = [];
  for (const offer of offers) args.push(offer.id, dueArgument(offer.due), offer.onDuplicate, offer.body);
  return args;
}

export function dueArgument(due: DueTime): string {
  return 'after' in due ? `+${due.after}` : `@${due.at}`;
}

export function readReceipts(reply: ScriptReply, offers: number): OfferReceipt[] {
  const receipts: { outcome: OfferOutcome; dueAt: number }[] = [];
  for (let i = 0; i < offers; i++) receipts.push({ outcome: 'created', dueAt: reply.number() });
  while (!reply.done) receipts[reply.number() - 1]!.outcome = reply.text() as OfferOutcome;
  return receipts;
}

/** Length of the id (2 bytes), failed attempts (4), length of the record (4). */
const TAKEN_PREFIX_BYTES = 10;

export function readClaimReport(reply: ScriptReply): ClaimReport {
  const more = reply.flag();
  const now = reply.number() / 1000;
  const messages: ClaimedMessage[] = [];
  const orphans: string[] = [];
  if (reply.done) return { messages, more, now, orphans };
  const taken = reply.bytes();
  for (let at = 0; at < taken.length;) {
    const idAt = at + TAKEN_PREFIX_BYTES;
    const recordAt = idAt + taken.readUInt16BE(at);
    const failedAttempts = taken.readUInt32BE(at + 2);
    const end = recordAt + taken.readUInt32BE(at + 6);
    const id = taken.toString('utf8', idAt, recordAt);
    if (end > recordAt) {
      const { body, dueAt, offeredAt } = readRecord(taken, recordAt, end);
      messages.push({ id, body, failedAttempts, dueAt, offeredAt });
    } else orphans.push(id);
    at = end;
  }
  const report = { messages, more, now, orphans };
  return reply.done ? report : { ...report, claimAgainIn: reply.number() / 1000 };
}

export function claimCall(request: ClaimRequest, { rate }: StoreLimits): Omit<ScriptCall, 'keys'> {
  const { token, insteadOf, limit, maxBytes = 0, lease } = request;
  const args = { token, insteadOf: insteadOf ?? '', limit, maxBytes, lease, rate: rateArgument(rate) };
  return { args, optionalKeys: insteadOf !== undefined };
}

function rateArgument(rate: StoreLimits['rate']): string {
  return rate ? `${rate.max} ${rate.per}` : '';
}

/** How many messages one call of `repair` reads. It reads their records, too, which are as large as their payloads. */
export const REPAIR_PART = 100;

export function readRepairReport(reply: ScriptReply): RepairReport {
  const cursor = reply.text();
  return { cursor: cursor === '' ? null : cursor, repaired: reply.rest(() => reply.text()) };
}

/** Groups consecutive settlements that have the same claim and the same outcome. */
export function settlementArguments(settlements: readonly Settlement[]): ScriptArgument[] {
  const args: ScriptArgument[] = [];
  let run: { token: string; outcome: Outcome; countAt: number } | undefined;
  for (const { claim, outcome } of settlements) {
    if (run?.token !== claim.token || run.outcome !== outcome) {
      args.push(claim.token, outcome.kind, detail(outcome), 0);
      run = { token: claim.token, outcome, countAt: args.length - 1 };
    }
    args[run.countAt] = (args[run.countAt] as number) + 1;
    args.push(claim.id);
  }
  return args;
}

function detail(outcome: Outcome): ScriptArgument {
  const what = outcome.kind === 'dead' ? outcome.error : 'delay' in outcome ? outcome.delay : '';
  return 'body' in outcome && outcome.body !== undefined ? withBody(what, outcome.body) : what;
}

/** Neither a delay nor an error, which is JSON, has a line feed in it. */
function withBody(what: string | number, body: MessageBody): ScriptArgument {
  return typeof body === 'string' ? `${what}\n${body}` : Buffer.concat([Buffer.from(`${what}\n`), body]);
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

/** @throws DelayQueueError `INVALID_ARGUMENT` for a malformed cursor */
export function pageArguments({ state, from = { offset: 0 }, limit }: PageRequest) {
  const place = 'cursor' in from ? parseCursor(state, from.cursor) : { at: '', name: '' };
  return { ...place, offset: 'offset' in from ? from.offset : 0, limit };
}

export function readStoredPage(state: MessageState, reply: ScriptReply): StoredPage {
  const place = reply.text();
  const messages = reply.rest(() => readListed(state, reply));
  return { messages, cursor: place === '' ? null : formatCursor(state, place) };
}

/** Of a damaged message, some parts are missing; it must not hide the others. */
function readListed(state: MessageState, reply: ScriptReply): StoredMessage {
  const id = reply.text();
  const record = readRecord(reply.bytesOrNull() ?? NO_BYTES);
  const failedAttempts = reply.number();
  const { at, error } = readDeath(reply);
  return {
    id,
    state,
    ...record,
    // Where the order of due times is kept, even if the record is damaged.
    dueAt: state === 'delayed' && at > 0 ? at : record.dueAt,
    failedAttempts,
    leasedUntil: state === 'active' ? at : null,
    death: state === 'dead' ? { at, error } : null,
  };
}

/** Reads an instant and an error. */
export function readDeath(reply: ScriptReply): MessageDeath {
  return { at: reply.number(), error: reply.bytesOrNull()?.toString() ?? UNKNOWN_ERROR };
}

const NO_BYTES = Buffer.alloc(0);
const UNKNOWN_ERROR = JSON.stringify({ name: 'Unknown', message: 'The error of this dead letter is lost.' });

export function transferArguments({ scheduler, limit }: TransferRequest, limits: StoreLimits) {
  const { attempts, maxDeadLetters, rate } = limits;
  return {
    scheduler,
    limit,
    maxAttempts: attempts,
    maxDead: maxDeadLetters,
    leaseError: JSON.stringify(LEASE_EXPIRED),
    rate: rateArgument(rate),
  };
}

/** Reads a transfer report, and the server's time at which it was made, ms. */
export function readTransferReport(reply: ScriptReply): { now: number; report: TransferReport } {
  const counts = {
    moved: reply.number(),
    recovered: reply.number(),
    buried: reply.list((list) => list.text()),
    dropped: reply.number(),
    more: reply.flag(),
    ready: reply.number(),
  };
  const now = reply.number() / 1000;
  const next = reply.number();
  const nextAt = next < 0 ? null : next;
  const nextIn = nextAt === null ? null : Math.max(0, nextAt - now);
  return { now, report: { ...counts, nextAt, nextIn, lastMove: parseMove(reply.text()) } };
}

function parseMove(text: string): TransferReport['lastMove'] {
  const [scheduler, at] = text.split(' ');
  return scheduler && Number(at) > 0 ? { scheduler, at: Number(at) } : null;
}
