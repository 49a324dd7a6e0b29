import type { MessageBody } from '../../message/codec/message-codec.js';
import {
  type ClaimedMessage,
  type ClaimedTransfer,
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
import type { ScriptArgument, ScriptCall } from '../../redis/script-call.js';
import type { ScriptReply } from '../../redis/script-reply.js';
import { type Announcing, nextWork, tellerArgument } from './announcements.js';
import { type NativeRecord, readRecord } from './native-record.js';

/* The arguments and replies of scripts that more than one layout has. */

/** The arguments of offers under free ids, one after the other. */
export function newOfferArguments(offers: readonly Offer[]): ScriptArgument[] {
  const args: ScriptArgument[] = [];
  for (const { id, due, body } of offers) args.push(id, dueArgument(due), body);
  return args;
}

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
    if (record) messages.push(claimedMessage(id, readRecord(record), failedAttempts[i] ?? 0));
    else orphans.push(id);
  }
  return { messages, orphans };
}

/** Where every message passes, the record is not spread: that is measurably slower than naming its fields. */
function claimedMessage(id: string, { body, dueAt, offeredAt }: NativeRecord, failedAttempts: number): ClaimedMessage {
  return { id, body, failedAttempts, dueAt, offeredAt };
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
  const ids = () => reply.list((list) => list.text());
  return { cursor: cursor === '' ? null : cursor, ready: ids(), delayed: ids() };
}

/** Of handled messages: groups consecutive ones that have the same claim. */
export function ackArguments(settlements: readonly Settlement[]): ScriptArgument[] {
  const args: ScriptArgument[] = [];
  let countAt = 0;
  for (const { claim } of settlements) {
    if (args[countAt - 1] !== claim.token || countAt === 0) countAt = args.push(claim.token, 0) - 1;
    (args[countAt] as number)++;
    args.push(claim.id);
  }
  return args;
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
  const what = whatOf(outcome);
  return 'body' in outcome && outcome.body !== undefined ? withBody(what, outcome.body) : what;
}

function whatOf(outcome: Outcome): string | number {
  if (outcome.kind === 'dead') return outcome.error;
  if ('delay' in outcome) return outcome.delay;
  return 'at' in outcome ? `@${outcome.at}` : '';
}

/** Neither a due time nor an error, which is JSON, has a line feed in it. */
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

export function transferArguments({ teller, limit }: TransferRequest, limits: StoreLimits, announcing: Announcing) {
  const { attempts, maxDeadLetters, rate } = limits;
  return {
    teller: tellerArgument(teller, announcing),
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
  return { now, report: { ...counts, ...nextWork(reply.number(), now), at: now } };
}

/** Undefined: the script left it to others. */
export function readClaimedTransfer(reply: ScriptReply): ClaimedTransfer | undefined {
  if (reply.done) return undefined;
  const next = reply.number();
  const now = reply.number() / 1000;
  const more = reply.flag();
  const taken = readTaken(reply);
  const moved = taken.messages.length;
  const report = { moved, recovered: 0, buried: [], dropped: 0, more, ready: 0, ...nextWork(next, now), at: now };
  return { report, claimed: { ...taken, more: false, now } };
}
