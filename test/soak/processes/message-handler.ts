import { setTimeout as sleep } from 'node:timers/promises';
import { DeferMessage, type DelayedMessage, RejectMessage } from '../../../lib/index.js';
import type { HandlerEnd } from '../journal/entries.js';
import type { Journal } from '../journal/journal.js';
import { readContent } from '../workload/content.js';
import { DEFER_DELAY, type MessagePlan, planMessage } from '../workload/message-plan.js';
import type { HeldClaim } from './claim-journal.js';
import type { ProcessSettings } from './process-settings.js';

/** What of a message matters here; a naive consumer has no more. */
export type HandledMessage = Pick<
  DelayedMessage,
  'id' | 'payload' | 'headers' | 'attempt' | 'dueAt' | 'offeredAt' | 'signal'
>;

/** Handles a message as its number says, and writes it down: the start before the work, the end before its outcome. */
export class MessageHandler {
  constructor(
    private readonly settings: ProcessSettings,
    private readonly journal: Journal,
  ) {}

  async handle(message: HandledMessage, held: HeldClaim): Promise<void> {
    const { journal } = this;
    const at = journal.now();
    const reading = readContent(this.settings.soak, message);
    if (reading === 'unreadable') {
      await journal.append({ kind: 'unreadable', at });
      return;
    }
    const { n, version, intact } = reading;
    held.n = n;
    const { claim, sentAt } = held;
    const due = journal.since(message.dueAt.getTime());
    const { attempt } = message;
    await journal.append({ kind: 'start', n, claim, at, claimSentAt: sentAt, due, attempt, version, intact });
    const plan = planMessage(this.settings.soak, n);
    const how = (await finished(plan.work, message.signal)) ? outcomeOf(plan, message) : 'aborted';
    await journal.append({ kind: 'end', n, claim, at: journal.now(), how });
    if (how === 'aborted') throw message.signal.reason;
    if (how === 'failed') throw new Error('planned');
    if (how === 'deferred') throw new DeferMessage(DEFER_DELAY);
    if (how === 'rejected') throw new RejectMessage('planned');
  }
}

/** Works for so long; false: its time was up before that. */
async function finished(work: number, signal: AbortSignal): Promise<boolean> {
  if (work > 0) await sleep(work, undefined, { signal }).catch(() => undefined);
  return !signal.aborted;
}

function outcomeOf({ behaviour, delay, way }: MessagePlan, { attempt, dueAt, offeredAt }: HandledMessage): HandlerEnd {
  switch (behaviour) {
    case 'handle':
      return 'handled';
    case 'reject':
      return 'rejected';
    case 'fail-once':
      return attempt === 1 ? 'failed' : 'handled';
    case 'defer-once':
      // Only the first due time is the delay of the offer after it, rounded up.
      return way !== 'instant' && dueAt.getTime() - offeredAt.getTime() <= delay + 1 ? 'deferred' : 'handled';
  }
}
