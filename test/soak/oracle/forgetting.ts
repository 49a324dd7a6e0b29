import { type FaultWindow, overlap, type Span } from '../nemesis/fault-window.js';
import type { ClaimStory, MessageStory, Offering } from './message-story.js';

/** The cause of starts that happened because Redis forgot what it had acknowledged. */
export const FORGOTTEN = 'forgotten by Redis';

/** What was acknowledged in `span` may have been forgotten from `from` on. */
interface Loss {
  readonly from: number;
  readonly span: Span;
}

/** When Redis forgot what it had acknowledged; everything acknowledged before and afterwards must be intact. */
export class Forgetting {
  readonly #losses: readonly Loss[];

  constructor(windows: readonly FaultWindow[]) {
    this.#losses = windows.flatMap(({ from, forgotten = [] }) => forgotten.map((span) => ({ from, span })));
  }

  /** True if this acknowledged offer may have been forgotten. */
  mayHaveLost(offer: Offering): boolean {
    return this.#losses.some(({ span }) => overlap(span, spanOf(offer)));
  }

  /** True if a claim, or its outcome, may have found the message in an earlier state. */
  mayHaveMisled(story: MessageStory, { startedAt, settle }: ClaimStory): boolean {
    const latest = Math.max(startedAt, settle?.at ?? startedAt);
    const losses = this.#losses.filter(({ from, span }) => latest >= Math.max(from, span.from));
    if (losses.length === 0) return false;
    const acknowledged = acknowledgedCalls(story);
    return losses.some(({ span }) => acknowledged.some((call) => overlap(span, call)));
  }
}

/** The calls about a message that Redis acknowledged. It did so at some time between their beginning and their end. */
function acknowledgedCalls({ offers, changes, claims }: MessageStory): Span[] {
  return [
    ...offers.filter(({ outcome }) => outcome === 'ok').map(spanOf),
    ...changes.filter(({ outcome }) => outcome === 'done').map(spanOf),
    ...claims.map(({ sentAt, startedAt }) => ({ from: sentAt, to: startedAt })),
    ...claims.flatMap(({ settle }) => (settle?.result === 'accepted' ? [{ from: settle.sentAt, to: settle.at }] : [])),
  ];
}

function spanOf({ invokedAt, endedAt }: { readonly invokedAt: number; readonly endedAt: number }): Span {
  return { from: invokedAt, to: endedAt };
}
