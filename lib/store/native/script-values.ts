import type {
  ClaimedMessage,
  ClaimReport,
  DueTime,
  OfferOutcome,
  OfferReceipt,
  QueueStatus,
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
