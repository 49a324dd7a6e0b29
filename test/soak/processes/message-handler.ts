import { setTimeout as sleep } from 'node:timers/promises';
import { again, type Again, DeferMessage, type DelayedMessage, RejectMessage } from '../../../lib/index.js';
import { block } from '../../support/block.js';
import type { HandlerEnd } from '../journal/entries.js';
import type { Journal } from '../journal/journal.js';
import { contentOf, readContent } from '../workload/content.js';
import { AGAIN_DELAY, DEFER_DELAY, type MessagePlan, planMessage } from '../workload/message-plan.js';
import type { HeldClaim } from './claim-journal.js';
import { callingBackTwice, unspeakable } from './misbehaviour.js';
import type { ProcessSettings } from './process-settings.js';

/** The parts of a message that matter here; a naive consumer has no others. */
export type HandledMessage = Pick<
  DelayedMessage,
  'id' | 'payload' | 'headers' | 'group' | 'attempt' | 'dueAt' | 'offeredAt' | 'signal'
>;

/** Handles each message as its number says, and records the start before the work and the end before the outcome. */
export class MessageHandler {
  /** For how long handlers have blocked this process so far, ms. */
  blocked = 0;

  constructor(
    private readonly settings: ProcessSettings,
    private readonly journal: Journal,
  ) {}

  /** @returns whatever a handler may return: nothing, a promise or a thenable */
  handle(message: HandledMessage, held: HeldClaim): unknown {
    const work = this.#begin(message, held);
    if (!work) return;
    const { n } = work.about;
    switch (work.plan.manner) {
      case 'synchronous':
      case 'throws':
        return this.#workAtOnce(work);
      case 'thenable':
        return callingBackTwice(this.#work(work), n);
      default:
        return this.#work(work);
    }
  }

  /** Records that an observer keeps a message from its handler until its signal aborts. */
  holdUp(message: HandledMessage, held: HeldClaim): void {
    const { journal } = this;
    const work = this.#begin(message, held);
    if (!work) return;
    const end = () => {
      void journal.append({ kind: 'end', ...work.about, at: journal.now(), how: 'hung' });
      journal.flush();
    };
    message.signal.addEventListener('abort', end, { once: true });
  }

  /** @returns undefined if nobody can have offered it */
  #begin(message: HandledMessage, held: HeldClaim): Work | undefined {
    const { journal } = this;
    const at = journal.now();
    const reading = readContent(this.settings.soak, message);
    if (reading === 'unreadable') {
      void journal.append({ kind: 'unreadable', at });
      return undefined;
    }
    const { n, version, intact } = reading;
    held.n = n;
    const { claim, sentAt } = held;
    const due = journal.since(message.dueAt.getTime());
    const { attempt } = message;
    const started = journal.append({ kind: 'start', n, claim, at, claimSentAt: sentAt, due, attempt, version, intact });
    return { plan: planMessage(this.settings.soak, n), message, version, about: { n, claim }, started };
  }

  /** Works synchronously, so the journal must be flushed at each step. */
  #workAtOnce({ plan, message, version, about }: Work): void {
    const { journal } = this;
    journal.flush();
    if (plan.manner === 'synchronous') this.#block(plan.work);
    const how = outcomeOf(plan, message, version);
    void journal.append({ kind: 'end', ...about, at: journal.now(), how });
    journal.flush();
    if (how === 'failed') throw unspeakable(about.n);
  }

  async #work({ plan, message, version, about, started }: Work): Promise<Again | void> {
    const { journal } = this;
    const blocksFirst = plan.manner === 'blocks-first';
    if (blocksFirst) {
      journal.flush();
      this.#block(plan.work);
    } else {
      await started;
    }
    const how = (await finished(blocksFirst ? 0 : plan.work, message.signal))
      ? outcomeOf(plan, message, version)
      : 'aborted';
    await journal.append({ kind: 'end', ...about, at: journal.now(), how });
    if (how === 'aborted') throw message.signal.reason;
    if (how === 'failed') throw plan.manner === 'rejects' ? unspeakable(about.n) : new Error('planned');
    if (how === 'deferred') throw new DeferMessage(DEFER_DELAY);
    if (how === 'rejected') throw new RejectMessage('planned');
    if (how === 'again')
      return again(AGAIN_DELAY, { payload: contentOf(this.settings.soak, about.n, version + 1).payload });
  }

  #block(length: number): void {
    block(length);
    this.blocked += length;
  }
}

interface Work {
  readonly plan: MessagePlan;
  readonly message: HandledMessage;
  readonly version: number;
  readonly about: { readonly n: number; readonly claim: number };
  /** Resolves when the start is on disk. */
  readonly started: Promise<void>;
}

/** Works for `work` ms; false if the signal aborted it before. */
async function finished(work: number, signal: AbortSignal): Promise<boolean> {
  if (work > 0) await sleep(work, undefined, { signal }).catch(() => undefined);
  return !signal.aborted;
}

function outcomeOf(
  { behaviour, delay, way }: MessagePlan,
  { attempt, dueAt, offeredAt }: HandledMessage,
  version: number,
): HandlerEnd {
  switch (behaviour) {
    case 'handle':
      return 'handled';
    case 'reject':
      return 'rejected';
    case 'fail-once':
      return attempt === 1 ? 'failed' : 'handled';
    case 'again-once':
      return version === 0 ? 'again' : 'handled';
    case 'defer-once':
      // Only the first due time is as far from the offer as its delay, rounded up.
      return way !== 'instant' && dueAt.getTime() - offeredAt.getTime() <= delay + 1 ? 'deferred' : 'handled';
  }
}
