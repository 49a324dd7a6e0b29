import type { HandlerEnd, OfferingHow, SettleOutcome, SettleResult } from '../journal/entries.js';
import { OFFER_TIMEOUT } from '../workload/message-plan.js';
import type { Testimony } from './history.js';

/** Everything known about one message. */
export interface MessageStory {
  readonly n: number;
  /** In the order in which they were made. */
  readonly offers: readonly Offering[];
  readonly changes: readonly ChangeAttempt[];
  /** In the order in which they happened, as far as that is known. */
  readonly claims: readonly ClaimStory[];
  /** The times at which the observer saw that one claim held it. */
  readonly holdings: readonly Holding[];
  /** The times at which workers removed it because it had expired. */
  readonly expiries: readonly number[];
}

export interface Holding {
  readonly from: number;
  readonly to: number;
}

/** An offer, or another call that gives the message a version. */
export interface Offering {
  readonly how: OfferingHow;
  /** How late the message may be at most, ms; null: it does not expire. */
  readonly expiresAfter: number | null;
  readonly invokedAt: number;
  readonly version: number;
  readonly delay: number;
  /** Infinity if its outcome never became known. */
  endedAt: number;
  outcome: 'ok' | 'failed' | 'unknown';
  /** The due time in the acknowledgement; null if there is none. */
  due: number | null;
}

export interface ChangeAttempt {
  readonly kind: 'cancel' | 'reschedule' | 'abort';
  readonly invokedAt: number;
  readonly delay: number;
  endedAt: number;
  outcome: 'done' | 'refused' | 'failed' | 'unknown';
}

/** One claim of a message. */
export interface ClaimStory {
  readonly process: number;
  readonly claim: number;
  /** The claim happened between `sentAt` and `startedAt`. */
  readonly sentAt: number;
  readonly startedAt: number;
  readonly due: number;
  readonly attempt: number;
  readonly version: number;
  readonly intact: boolean;
  end: { readonly at: number; readonly how: HandlerEnd } | null;
  settle: Settle | null;
}

export interface Settle {
  /** The time at which the call that was answered was sent. */
  readonly sentAt: number;
  readonly at: number;
  readonly outcome: SettleOutcome;
  /** Also `unknown` if it was refused after a call whose answer was lost, because that call may have counted. */
  readonly result: SettleResult;
}

/** Combines what all processes recorded about a message. */
export function tellStory(n: number, entries: readonly Testimony[]): MessageStory {
  const offers: Offering[] = [];
  const changes: ChangeAttempt[] = [];
  const claims: ClaimStory[] = [];
  const holdings: Holding[] = [];
  const expiries: number[] = [];
  for (const entry of entries) {
    if (entry.kind === 'held') holdings.push({ from: entry.from, to: entry.at });
    else if (entry.kind === 'expired') expiries.push(entry.at);
    else if (entry.kind === 'start' || entry.kind === 'end' || entry.kind === 'settled') tellClaim(claims, entry);
    else tellProducing({ offers, changes }, entry);
  }
  return { n, offers, changes, claims: claims.sort(inOrder), holdings, expiries };
}

/**
 * The offerings that decide about a claim. A follower has its id in common with the message that it waits for; otherwise neither
 * knows of the other.
 */
export function offeringsOf(
  { offers }: Pick<MessageStory, 'offers'>,
  { version }: Pick<ClaimStory, 'version'>,
): Offering[] {
  const isFollower = isOfFollower({ offers }, version);
  return offers.filter(({ how }) => (how === 'follow') === isFollower);
}

/** True if a version belongs to a follower. */
export function isOfFollower({ offers }: Pick<MessageStory, 'offers'>, version: number): boolean {
  return offers.some((offer) => offer.version === version && offer.how === 'follow');
}

/**
 * Whether a call that was never answered may have taken effect after a later one that was: calls have until their timeout by
 * Redis' clock, and a connection that breaks ends the wait for their answer before that.
 */
export function mayOvertake(call: Offering | ChangeAttempt, later: Offering): boolean {
  return call.outcome === 'unknown' && later.invokedAt < call.invokedAt + OFFER_TIMEOUT;
}

type ClaimTestimony = Extract<Testimony, { kind: 'start' | 'end' | 'settled' }>;
type ProducerTestimony = Exclude<Testimony, { kind: 'start' | 'end' | 'settled' | 'held' | 'expired' }>;

function tellProducing({ offers, changes }: Pick<Mutable, 'offers' | 'changes'>, entry: ProducerTestimony): void {
  const { at } = entry;
  // One process makes all offers and changes of a message, one after the other.
  const offer = offers.at(-1);
  const change = changes.at(-1);
  switch (entry.kind) {
    case 'offer': {
      const { version, delay, how, expiresAfter } = entry;
      const asked = { invokedAt: at, version, delay, how, expiresAfter };
      offers.push({ ...asked, endedAt: Infinity, outcome: 'unknown', due: null });
      return;
    }
    case 'offered':
      if (offer) Object.assign(offer, { endedAt: at, outcome: 'ok', due: entry.due });
      return;
    case 'offer-failed':
      if (offer) Object.assign(offer, { endedAt: at, outcome: 'failed' });
      return;
    case 'offer-unknown':
      // It stays unknown, because its bytes may still be on their way.
      return;
    case 'cancel':
    case 'abort':
    case 'reschedule': {
      const delay = entry.kind === 'reschedule' ? entry.delay : 0;
      changes.push({ kind: entry.kind, invokedAt: at, delay, endedAt: Infinity, outcome: 'unknown' });
      return;
    }
    case 'cancelled':
    case 'aborted':
    case 'rescheduled':
      if (change && entry.result !== 'unknown') Object.assign(change, { endedAt: at, outcome: entry.result });
  }
}

interface Mutable {
  offers: Offering[];
  changes: ChangeAttempt[];
}

function tellClaim(claims: ClaimStory[], entry: ClaimTestimony): void {
  const { process, claim, at } = entry;
  if (entry.kind === 'start') {
    const { due, attempt, version, intact, claimSentAt: sentAt } = entry;
    claims.push({ process, claim, sentAt, startedAt: at, due, attempt, version, intact, end: null, settle: null });
    return;
  }
  const own = claims.find((candidate) => candidate.process === process && candidate.claim === claim);
  if (!own) return;
  if (entry.kind === 'end') {
    own.end = { at, how: entry.how };
  } else {
    const { sentAt, outcome, result } = entry;
    const before = own.settle?.result;
    own.settle = { sentAt, at, outcome, result: result === 'refused' && before === 'unknown' ? 'unknown' : result };
  }
}

/** Attempts only grow during a message's life; within one attempt, as after a deferral, due times grow. */
function inOrder(a: ClaimStory, b: ClaimStory): number {
  return a.version - b.version || a.attempt - b.attempt || a.due - b.due || a.startedAt - b.startedAt;
}
