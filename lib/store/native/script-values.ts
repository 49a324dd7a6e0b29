import type {
  ClaimedMessage,
  ClaimReport,
  DueTime,
  OfferOutcome,
  OfferReceipt,
  QueueStatus,
  TransferReport,
} from '../message-store.js';
import type { ScriptReply } from '../redis/script-reply.js';
import { readRecord } from './native.record.js';

/** What scripts take and answer with, where more than one layout does. */

export function dueArgument(due: DueTime): string {
  return 'after' in due ? `+${due.after}` : `@${due.at}`;
}

export function readReceipts(reply: ScriptReply): OfferReceipt[] {
  return reply.rest(() => ({ outcome: reply.text() as OfferOutcome, dueAt: reply.number() }));
}

export function readClaimReport(reply: ScriptReply): ClaimReport {
  const more = reply.flag();
  const messages: ClaimedMessage[] = [];
  const orphans: string[] = [];
  while (!reply.done) {
    const id = reply.text();
    const failedAttempts = reply.number();
    const record = reply.bytesOrNull();
    if (record) messages.push({ id, failedAttempts, ...readRecord(record) });
    else orphans.push(id);
  }
  return { messages, more, orphans };
}

export function readQueueStatus(reply: ScriptReply): QueueStatus {
  const counts = { delayed: reply.number(), ready: reply.number(), active: reply.number(), dead: reply.number() };
  const nextDue = reply.number();
  return { counts, nextDue: nextDue < 0 ? null : nextDue, paused: reply.flag() };
}

/** With the instant of the server at which it held, ms. */
export function readTransferReport(reply: ScriptReply): { now: number; report: TransferReport } {
  const counts = {
    moved: reply.number(),
    recovered: reply.number(),
    buried: reply.number(),
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
