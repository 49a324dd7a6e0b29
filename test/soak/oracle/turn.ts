import { OFFER_TIMEOUT } from '../workload/message-plan.js';
import { type DueSetting, dueSettingsBefore } from './due-settings.js';
import { type ClaimStory, isOfFollower, type MessageStory } from './message-story.js';

/** A message has a slot of its group, from the first start of its handler until it is done; while it waits for a retry, too. */
export interface Turn {
  readonly n: number;
  /** When its handler first started; it had the slot before. */
  readonly from: number;
  /** When it may first have given the slot back. */
  readonly to: number;
  readonly due: number;
  /** Whether its producer may have taken the slot away before the handler even started, which then tells nothing. */
  readonly mayBeLate: boolean;
  /** Whether it surely came from the end of the line, rather than having kept a slot. */
  readonly isFromLine: boolean;
  /** The call or outcome that surely set its due time; undefined: that is not certain. */
  readonly setting: Entering | undefined;
}

export interface Entering {
  readonly invokedAt: number;
  /** From then on it was surely in the queue. */
  readonly knownAt: number;
  /** Whether it was an offer: among equal due times, offers keep their order. */
  readonly isOffer: boolean;
}

/** What a message did between two claims. */
type Beginning = 'from the line' | 'kept its slot' | 'nobody knows';

/**
 * The turns of a message. Wherever nobody can know whether it kept its slot, it counts as having given it back.
 *
 * @param lastSignOf - when a process is last known to have been alive
 */
export function turnsOf(story: MessageStory, lastSignOf: (process: number) => number): Turn[] {
  const turns: Turn[] = [];
  const claims = story.claims.filter((claim) => !wasLost(story, claim));
  for (const [at, claim] of claims.entries()) {
    const beginning = beginningOf(story, claims[at - 1], claim);
    const to = slotKeptUntil(story, claim, lastSignOf);
    const last = turns.at(-1);
    if (beginning === 'kept its slot' && last) {
      turns[turns.length - 1] = { ...last, to: Math.max(to, claim.startedAt) };
      continue;
    }
    const { startedAt: from, due } = claim;
    const mayBeLate = isTouched(story, { ...claim, until: from });
    const isFromLine = beginning === 'from the line' && !mayBeLate;
    const setting = isFromLine ? enteringOf(story, claim) : undefined;
    turns.push({ n: story.n, from, to, due, mayBeLate, isFromLine, setting });
  }
  return turns;
}

/** Whether the lease of a claim had ended, and another one had taken over, before its handler even started: its process had been frozen. */
function wasLost(story: MessageStory, claim: ClaimStory): boolean {
  const { startedAt, version } = claim;
  const isFollower = isOfFollower(story, version);
  return story.claims.slice(story.claims.indexOf(claim) + 1).some((other) => {
    return other.startedAt < startedAt && isOfFollower(story, other.version) === isFollower;
  });
}

function beginningOf(story: MessageStory, before: ClaimStory | undefined, claim: ClaimStory): Beginning {
  if (before?.version !== claim.version) return 'from the line';
  const { end, settle } = before;
  // An offer that was made again may have made two messages.
  const mayBeTwo = story.offers.some(({ outcome }) => outcome === 'unknown');
  if (mayBeTwo || isTouched(story, { ...before, until: claim.startedAt })) return 'nobody knows';
  if (settle?.result === 'accepted' && settle.outcome === 'defer') return 'from the line';
  if (settle?.result === 'accepted' && settle.outcome !== 'retry' && settle.outcome !== 'release')
    return 'nobody knows';
  // It may have been deferred although nobody heard of it.
  if (end?.how === 'deferred' && settle?.result !== 'refused') return 'nobody knows';
  return 'kept its slot';
}

/** A claim, and until when it matters. */
type Period = Pick<ClaimStory, 'sentAt' | 'version'> & { readonly until: number };

/** Whether its producer may have taken the message away, or put another one in its place. */
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

/** At the latest with the end of its handler; before that if it lost its lease, or something happened to the message. */
function slotKeptUntil(story: MessageStory, claim: ClaimStory, lastSignOf: (process: number) => number): number {
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
