import { OFFER_TIMEOUT } from '../workload/message-plan.js';
import { type DueSetting, dueSettingsBefore } from './due-settings.js';
import { type ClaimStory, isOfFollower, type MessageStory } from './message-story.js';

/** The time for which a message has a permit of its group: from the first start of its handler until it is done, including waits for retries. */
export interface PermitUse {
  readonly n: number;
  /** The time at which its handler first started; it had the permit before. */
  readonly from: number;
  /** The time at which it may first have returned the permit. */
  readonly to: number;
  readonly due: number;
  /** True if its producer may have taken the permit away before the handler started, which then proves nothing. */
  readonly mayBeLate: boolean;
  /** True if it surely came from the backlog and had not kept a permit. */
  readonly isFromBacklog: boolean;
  /** The call or outcome that surely set its due time, if that is certain. */
  readonly setting: Entering | undefined;
}

export interface Entering {
  readonly invokedAt: number;
  /** From then on it was surely in the queue. */
  readonly knownAt: number;
  /** True for an offer; offers with equal due times keep their order. */
  readonly isOffer: boolean;
}

/** What happened to a message between two claims. */
type Beginning = 'from the backlog' | 'kept its permit' | 'unknown';

/**
 * Returns the permit uses of a message. If it is unknown whether it kept its permit, it counts as having returned it.
 *
 * @param lastSignOf - when a process is last known to have been alive
 */
export function permitUsesOf(story: MessageStory, lastSignOf: (process: number) => number): PermitUse[] {
  const uses: PermitUse[] = [];
  const claims = story.claims.filter((claim) => !wasLost(story, claim));
  for (const [at, claim] of claims.entries()) {
    const beginning = beginningOf(story, claims[at - 1], claim);
    const to = permitKeptUntil(story, claim, lastSignOf);
    const last = uses.at(-1);
    if (beginning === 'kept its permit' && last) {
      uses[uses.length - 1] = { ...last, to: Math.max(to, claim.startedAt) };
      continue;
    }
    const { startedAt: from, due } = claim;
    const mayBeLate = isTouched(story, { ...claim, until: from });
    const isFromBacklog = beginning === 'from the backlog' && !mayBeLate;
    const setting = isFromBacklog ? enteringOf(story, claim) : undefined;
    uses.push({ n: story.n, from, to, due, mayBeLate, isFromBacklog, setting });
  }
  return uses;
}

/** True if the lease of a claim had ended and another one had taken over before its handler started, because its process was frozen. */
function wasLost(story: MessageStory, claim: ClaimStory): boolean {
  const { startedAt, version } = claim;
  const isFollower = isOfFollower(story, version);
  return story.claims.slice(story.claims.indexOf(claim) + 1).some((other) => {
    return other.startedAt < startedAt && isOfFollower(story, other.version) === isFollower;
  });
}

function beginningOf(story: MessageStory, before: ClaimStory | undefined, claim: ClaimStory): Beginning {
  if (before?.version !== claim.version) return 'from the backlog';
  const { end, settle } = before;
  // An offer that was made again may have made two messages.
  const mayBeTwo = story.offers.some(({ outcome }) => outcome === 'unknown');
  if (mayBeTwo || isTouched(story, { ...before, until: claim.startedAt })) return 'unknown';
  if (settle?.result === 'accepted' && settle.outcome === 'defer') return 'from the backlog';
  if (settle?.result === 'accepted' && settle.outcome !== 'retry' && settle.outcome !== 'release') return 'unknown';
  // It may have been deferred without an answer.
  if (end?.how === 'deferred' && settle?.result !== 'refused') return 'unknown';
  return 'kept its permit';
}

/** A claim, and the end of the time that matters. */
type Period = Pick<ClaimStory, 'sentAt' | 'version'> & { readonly until: number };

/** True if its producer may have removed or replaced the message. */
function isTouched(story: MessageStory, period: Period): boolean {
  return touches(story, period).length > 0;
}

/** When the calls began that may have removed a message in a period, or replaced it. */
function touches({ offers, changes }: MessageStory, { sentAt, version, until }: Period): number[] {
  const calls = [
    ...changes.filter(({ outcome }) => outcome !== 'refused'),
    ...offers.filter((offer) => offer.version !== version && offer.how !== 'follow'),
  ];
  return calls
    .filter(({ outcome, invokedAt, endedAt }) => {
      const over = outcome === 'unknown' ? invokedAt + OFFER_TIMEOUT : endedAt;
      return outcome !== 'failed' && invokedAt <= until && over >= sentAt;
    })
    .map(({ invokedAt }) => invokedAt);
}

/** The end of its handler at the latest; earlier if it lost its lease or the message was changed or removed. */
function permitKeptUntil(story: MessageStory, claim: ClaimStory, lastSignOf: (process: number) => number): number {
  const { process, startedAt, end } = claim;
  const until = end?.at ?? Math.max(startedAt, lastSignOf(process));
  const successors = story.claims.filter((other) => other !== claim && other.startedAt >= startedAt);
  const reasons = [
    ...successors.map((other) => other.startedAt),
    ...story.expiries.filter((at) => at >= startedAt),
    ...touches(story, { ...claim, until }),
  ];
  return Math.max(startedAt, Math.min(until, ...reasons));
}

/** A follower joins its queue when its message is settled, not when it is offered. */
function enteringOf(story: MessageStory, claim: ClaimStory): Entering | undefined {
  const [only, ...others] = dueSettingsBefore(story, claim);
  if (!only || others.length > 0 || only.knownAt >= claim.startedAt || isOfFollower(story, claim.version)) {
    return undefined;
  }
  const { invokedAt, knownAt } = only;
  return { invokedAt, knownAt, isOffer: isOfAnOffer(story, only, claim) };
}

function isOfAnOffer({ offers }: MessageStory, { invokedAt }: DueSetting, { version, due }: ClaimStory): boolean {
  return offers.some((offer) => {
    return offer.how === 'offer' && offer.version === version && offer.invokedAt === invokedAt && offer.due === due;
  });
}
