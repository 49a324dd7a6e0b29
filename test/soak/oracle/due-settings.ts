import type { HandlerEnd } from '../journal/entries.js';
import { type ClaimStory, isOfFollower, type MessageStory, offeringsOf } from './message-story.js';
import { AGAIN_DELAY, DEFER_DELAY, MIN_BACKOFF } from '../workload/message-plan.js';

/** The least delay after which a message is due again, by how its handler ended, ms; null if it is not due again. */
const LEAST_DELAY: Readonly<Record<HandlerEnd, number | null>> = {
  handled: null,
  rejected: null,
  failed: MIN_BACKOFF,
  deferred: DEFER_DELAY,
  again: AGAIN_DELAY,
  aborted: 0,
  hung: MIN_BACKOFF,
};

/** A call or outcome that may have set a message's due time. */
export interface DueSetting {
  readonly invokedAt: number;
  readonly delay: number;
  /** Infinity if it is not known to have happened. */
  readonly knownAt: number;
  /** The due time, if it was reported. */
  readonly due: number | null;
}

/** The calls and outcomes that may have set the due time that a claim found. */
export function dueSettingsBefore(story: MessageStory, claim: ClaimStory): DueSetting[] {
  const all = allSettings(story, claim).filter(({ invokedAt }) => invokedAt <= claim.startedAt);
  // Whatever ended before the last certain one began has been superseded.
  const latest = Math.max(-Infinity, ...all.filter(({ knownAt }) => knownAt < claim.sentAt).map((s) => s.invokedAt));
  return all.filter(({ knownAt }) => knownAt >= latest);
}

function allSettings(story: MessageStory, claim: ClaimStory): DueSetting[] {
  const { changes, claims } = story;
  const isFollower = isOfFollower(story, claim.version);
  const settings: DueSetting[] = [];
  for (const { outcome, invokedAt, delay, endedAt, due } of offeringsOf(story, claim)) {
    if (outcome !== 'failed') settings.push({ invokedAt, delay, due, knownAt: outcome === 'ok' ? endedAt : Infinity });
  }
  for (const { kind, outcome, invokedAt, delay, endedAt } of changes) {
    if (kind !== 'reschedule' || outcome === 'failed' || outcome === 'refused') continue;
    settings.push({ invokedAt, delay, due: null, knownAt: outcome === 'done' ? endedAt : Infinity });
  }
  for (const { version, end, settle } of claims.slice(0, claims.indexOf(claim))) {
    if (isOfFollower(story, version) !== isFollower) continue;
    // A released message keeps its due time.
    if (!end || settle?.result === 'refused' || settle?.outcome === 'release') continue;
    const delay = LEAST_DELAY[end.how];
    if (delay === null) continue;
    const knownAt = settle?.result === 'accepted' ? settle.at : Infinity;
    settings.push({ invokedAt: end.at, delay, due: null, knownAt });
  }
  return settings;
}
