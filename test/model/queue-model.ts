import { isDeepStrictEqual } from 'node:util';
import { expect } from '@jest/globals';
import type { MessageState } from '../../lib/message/message.js';
import {
  LEASE_EXPIRED,
  type Claim,
  type ClaimRequest,
  type HandledEntry,
  type Handling,
  keepsId,
  type Outcome,
  type Settlement,
  UNREAD_ERROR,
} from '../../lib/store/consumer-store.js';
import type { ChangeOutcome, DueTime, Offer, OfferOutcome } from '../../lib/store/producer-store.js';
import type { StoreLimits } from '../../lib/store/message-store.js';
import type { DeadSelection } from '../../lib/store/admin-store.js';
import { Instant, type Moment } from './instant.js';
import { ReadyList } from './ready-list.js';

/** What the queue remembers of a handled message. */
interface ModelEntry {
  readonly id: string;
  readonly entry: HandledEntry;
  /** Empty unless the record is kept. */
  readonly body: string;
  /** The time of the call, whole ms. */
  readonly at: number;
}

export interface ModelMessage {
  readonly id: string;
  body: string;
  /** Orders it among messages with the same due time; default: its id. */
  delayedAs?: string;
  offered: Instant;
  state: MessageState;
  due: Instant;
  failedAttempts: number;
  /** Present while the message is active. */
  lease?: { readonly token: string; readonly place: number; readonly end: Instant } | undefined;
  /** Present while the message is dead. */
  death?: { readonly error: string; readonly at: Instant } | undefined;
  /**
   * In Redisson's layout, its number among all offers, until a claim takes it; of a message with a group, its number among those of the
   * same instant that were offered before it.
   */
  entry?: number | undefined;
}

/** sent: a signal must be there; stale: one may be there, though nobody needs it; none: there is none. */
export type WakeSignal = 'sent' | 'stale' | 'none';

/**
 * What a queue must do, in the simplest terms: one map, full scans, no index. Only two things are left to the store: the
 * instants that it chooses within a call, and which of two equally old ready messages comes first.
 */
export class QueueModel {
  readonly messages = new Map<string, ModelMessage>();
  /** Followers, by the id of their active message. */
  readonly followers = new Map<string, Pick<Offer, 'due' | 'body'>>();
  readonly readyList: ReadyMessages = new ReadyList();
  /** Every claim ever made, latest first. */
  readonly claimHistory: Claim[] = [];
  /** Tokens that take nothing, because another claim replaced them. */
  readonly ended = new Set<string>();
  /** How many claims each consumer has made. */
  readonly claimsMade: [number, number] = [0, 0];
  /** The last page of each state, if there was more: its cursor, and its last message as it was. */
  readonly lastPages = new Map<MessageState, { readonly cursor: string; readonly last: ModelMessage }>();
  /** The claims that count towards the rate. */
  claimed: { readonly count: number; readonly at: number }[] = [];
  /** When the consumer that waits for the rate will claim again. */
  #rateAwaited = -Infinity;
  /** What the queue remembers, newest first. */
  history: readonly ModelEntry[] = [];
  /** When the message with each kept id was handled. */
  readonly keptIds = new Map<string, Instant>();
  paused = false;
  wakeSignal: WakeSignal = 'none';

  constructor(readonly limits: StoreLimits) {}

  /** The ids of all messages. */
  get findable(): string[] {
    return [...this.messages.keys()];
  }

  /** The messages in a state, ordered by due time, end of lease or time of death. */
  in(state: MessageState): ModelMessage[] {
    return [...this.messages.values()].filter((message) => message.state === state).sort(byRankAndId);
  }

  /** The messages in a state in the order in which they are listed; undefined: several orders are right. */
  listed(state: MessageState): ModelMessage[] | undefined {
    return state === 'ready' ? undefined : this.in(state).sort(byPlace);
  }

  /** The messages that are listed after a place. */
  listedBehind(state: MessageState, place: ModelMessage | undefined): ModelMessage[] | undefined {
    return this.listed(state)?.filter((message) => !place || byPlace(message, place) > 0);
  }

  /** The messages that may be claimed next, if it is known when they fell due. */
  get nextReady(): ModelMessage[] {
    return this.in('ready').filter(({ id }) => this.readyList.mayBeginWith([id]));
  }

  /** A claim as its consumer knows it. */
  claimOf(id: string, token: string): Claim {
    return { id, token };
  }

  /** A later body of a message, with what the message keeps. */
  laterBody(_id: string, body: string): string {
    return body;
  }

  held({ id, token }: Claim): ModelMessage | undefined {
    const message = this.messages.get(id);
    return message?.lease?.token === token ? message : undefined;
  }

  /** Applies the offers of one call. */
  offer(offers: readonly Offer[], at: Moment): { outcome: OfferOutcome; due: Instant }[] {
    const receipts = offers.map((offer) => this.#offerOne(offer, at));
    // An offer that repeats never replaces an active message.
    const mayEndClaims = offers.some(({ onDuplicate }) => onDuplicate === 'replace');
    if (mayEndClaims && receipts.some(({ outcome }) => outcome === 'replaced')) this.#passOn();
    else this.#passOnInVain();
    return receipts;
  }

  #offerOne(offer: Offer, at: Moment): { outcome: OfferOutcome; due: Instant } {
    const { id, due, maxWait, body } = offer;
    const handled = this.keptIds.get(id);
    if (handled) return { outcome: 'handled', due: handled };
    const present = this.messages.get(id);
    const onDuplicate =
      present && offer.onDuplicate === 'repeat' ? this.#onRepeat(present, offer, at) : offer.onDuplicate;
    if (present?.state === 'active' && onDuplicate === 'follow') {
      this.followers.set(id, { due, body });
      return { outcome: 'followed', due: present.due };
    }
    if (present && onDuplicate === 'follow') return { outcome: 'kept', due: present.due };
    if (present && onDuplicate === 'keep') return { outcome: 'kept', due: present.due };
    if (present && onDuplicate === 'reject') return { outcome: 'rejected', due: present.due };
    if (!present && this.messages.size >= (this.limits.maxMessages ?? Infinity)) {
      return { outcome: 'full', due: new Instant(0) };
    }
    this.remove(id);
    const message = this.insert({ id, due, body }, at);
    if (maxWait !== undefined) {
      if (present?.state === 'delayed') message.offered = present.offered;
      message.due = Instant.earlier(message.due, message.offered.plus(maxWait));
    }
    return { outcome: present ? 'replaced' : 'created', due: message.due };
  }

  #onRepeat(present: ModelMessage, { id, due, body }: Offer, { from }: Moment): Offer['onDuplicate'] {
    const { state, failedAttempts } = present;
    if (state === 'dead') return 'replace';
    if ((this.followers.get(id)?.body ?? present.body) === body) return 'keep';
    if ((due as { at: number }).at <= from) return 'reject';
    if (state === 'active') return 'follow';
    if (state === 'delayed' && failedAttempts === 0 && present.due.exact > from) return 'replace';
    present.body = body.toString();
    return 'keep';
  }

  protected insert({ id, due, body }: Pick<Offer, 'id' | 'due' | 'body'>, at: Moment): ModelMessage {
    const message: ModelMessage = {
      id,
      body: body.toString(),
      offered: Instant.at(at),
      state: 'delayed',
      due: instantOf(due, at),
      failedAttempts: 0,
    };
    this.messages.set(id, message);
    return message;
  }

  cancel(id: string): boolean {
    const message = this.messages.get(id);
    const isEnded = (message?.state === 'ready' || message?.state === 'active') && repeats(message);
    if (isEnded) message.body = withoutRule(message.body);
    const isFollowed = this.followers.delete(id);
    return (message?.state === 'delayed' && this.remove(id)) || isFollowed || isEnded;
  }

  abort(id: string, at: Moment): boolean {
    const message = this.messages.get(id);
    if (message?.state !== 'active') return this.#passOnInVain();
    if (String(this.followers.get(id)?.body).startsWith('Nrepeat\n')) this.followers.delete(id);
    const isRemoved = this.#release(message, at) || this.remove(id);
    this.#passOn();
    return isRemoved;
  }

  reschedule(id: string, due: DueTime, at: Moment): boolean {
    const message = this.messages.get(id);
    if (message?.state !== 'delayed') return false;
    message.due = instantOf(due, at);
    return true;
  }

  change(id: string, { due, from, to }: { due: DueTime; from: string; to: string }, at: Moment): ChangeOutcome {
    const message = this.messages.get(id);
    if (message?.state !== 'delayed') return 'absent';
    if (message.body !== from) return 'stale';
    message.due = instantOf(due, at);
    message.body = to;
    return 'changed';
  }

  transfer(limit: number, at: Moment) {
    const due = this.in('delayed').filter((message) => message.due.exact <= at.from);
    const expired = this.in('active').filter((message) => message.lease!.end.exact <= at.from);
    const batches = this.structures(due).map((some) => some.slice(0, limit));
    const moved = batches.flat();
    const takenBack = expired.slice(0, limit);
    for (const message of takenBack) message.failedAttempts++;
    const attemptsOf = (message: ModelMessage) => Math.max(this.limits.attempts, ownAttempts(message));
    const recovered = takenBack.filter((message) => message.failedAttempts < attemptsOf(message) || repeats(message));
    const deadLettered = takenBack.filter((message) => !recovered.includes(message));

    for (const message of [...moved, ...recovered]) toState(message, 'ready');
    for (const message of deadLettered) {
      if (!this.#release(message, at)) this.deadLetter(message, JSON.stringify(LEASE_EXPIRED), at);
    }
    this.readyList.add(moved, recovered);
    if (!(at.from < this.#rateAwaited) && this.room > 0) this.#ringIfReady();
    return {
      moved: moved.length,
      recovered: recovered.length,
      deadLettered: deadLettered.map(({ id }) => id).sort(),
      dropped: this.#dropOldestDead(),
      more: [...batches, takenBack].some(({ length }) => length === limit),
      ready: this.claimableNow,
    };
  }

  /** Splits delayed messages by the structure that holds them. */
  protected structures(delayed: readonly ModelMessage[]): readonly (readonly ModelMessage[])[] {
    return [delayed];
  }

  /** Learns the ids of claimed messages before they are compared. */
  identify(_ids: readonly string[], _at: Moment): void {}

  /** The messages that a token holds. */
  heldBy(token: string): ModelMessage[] {
    return this.in('active').filter((message) => message.lease?.token === token);
  }

  /** How many ready messages can be claimed now, whatever the limits of a claim. */
  get claimableNow(): number {
    return this.readyList.length;
  }

  /** The number of messages that a new claim gets. */
  claimable(limit: number, at: Moment): number {
    return this.paused ? 0 : Math.min(limit, this.claimableNow, this.#freePermits(at), this.room);
  }

  /** How many more messages may become active. */
  protected get room(): number {
    return (this.limits.globalConcurrency ?? Infinity) - this.in('active').length;
  }

  /** How many messages the rate still allows. */
  #freePermits({ from }: Moment): number {
    const { rate } = this.limits;
    if (!rate) return Infinity;
    this.claimed = this.claimed.filter(({ at }) => at + rate.per > from);
    return rate.max - this.claimed.reduce((sum, { count }) => sum + count, 0);
  }

  /**
   * @param messages - what the claim took
   * @returns whether ready messages remain that others can claim, and whether the caller has to wait for the rate
   */
  claim(messages: readonly ModelMessage[], request: ClaimRequest, at: Moment): { more: boolean; waits: boolean } {
    const { token, supersedes, lease, limit } = request;
    const end = Instant.after(lease, at);
    const isNew = supersedes === undefined || this.heldBy(supersedes).length === 0;
    const wanted = this.ended.has(token) ? 0 : limit;
    if (supersedes !== undefined) {
      this.#putBack(this.heldBy(supersedes).filter((message) => !messages.includes(message)));
      this.ended.add(supersedes);
    }
    messages.forEach((message, place) => {
      this.readyList.remove(message.id);
      toState(message, 'active');
      message.entry = undefined;
      message.lease = { token, place, end };
      this.claimHistory.unshift(this.claimOf(message.id, token));
    });
    if (isNew && messages.length > 0) this.claimed.push({ count: messages.length, at: at.from });
    const isFull = this.room === 0;
    const isSpent = isNew && !isFull && messages.length < wanted && this.#freePermits(at) === 0 && this.#isWorthWaking;
    const more = !isSpent && !isFull && this.#ringIfReady();
    if (!more && this.wakeSignal === 'sent') this.wakeSignal = 'stale';
    return { more, waits: isSpent && this.#awaitRate(at) };
  }

  /** The messages that a transfer claims; undefined: it leaves everything to others. */
  transferAndClaim({ token, limit, lease }: ClaimRequest, at: Moment) {
    const expired = this.in('active').some((message) => message.lease!.end.exact <= at.from);
    if (this.limits.rate || this.limits.globalConcurrency) return undefined;
    if (this.readyList.length > 0 || expired || this.paused || this.ended.has(token)) return undefined;
    const due = this.in('delayed').filter((message) => message.due.exact <= at.from);
    if (due.length === 0) return { messages: [], more: false };
    if (this.heldBy(token).length > 0) return undefined;
    const messages = due.slice(0, limit);
    const end = Instant.after(lease, at);
    messages.forEach((message, place) => {
      toState(message, 'active');
      message.entry = undefined;
      message.lease = { token, place, end };
      this.claimHistory.unshift(this.claimOf(message.id, token));
    });
    return { messages, more: due.length > messages.length };
  }

  /** When a message falls due or a lease ends. */
  get nextInstant(): Instant | null {
    const instants = [...this.in('delayed').map(({ due }) => due), ...this.in('active').map(({ lease }) => lease!.end)];
    return instants.length > 0 ? instants.reduce((one, other) => Instant.earlier(one, other)) : null;
  }

  /** @returns whether the caller has to wait for the rate: nobody else does */
  #awaitRate({ from }: Moment): boolean {
    if (from < this.#rateAwaited) return false;
    this.#rateAwaited = this.claimed[0]!.at + this.limits.rate!.per;
    return true;
  }

  /** @returns the claims that are not held */
  extend(claims: readonly Claim[], lease: number, at: Moment): Claim[] {
    const end = Instant.after(lease, at);
    const lost = claims.filter((claim) => !this.held(claim));
    const named = claims.map((claim) => this.held(claim));
    const strays: ModelMessage[] = [];
    for (const token of new Set(claims.map((claim) => claim.token))) {
      const kept = this.heldBy(token).filter((message) => named.includes(message));
      strays.push(...this.heldBy(token).filter((message) => !named.includes(message)));
      for (const [place, message] of kept.entries()) message.lease = { ...message.lease!, place, end };
    }
    this.#putBack(strays);
    return lost;
  }

  settle(settlements: readonly Settlement[], at: Moment) {
    const handled: string[] = [];
    const accepted = settlements.map(({ claim, outcome }) => {
      const message = this.held(claim);
      if (message) this.#end(message, outcome, at);
      if (message && this.limits.idsFor && keepsId({ claim, outcome })) handled.push(claim.id);
      return message !== undefined;
    });
    const isReleased = ({ outcome }: Settlement, i: number) => outcome.kind === 'release' && accepted[i];
    this.#putBack(settlements.filter(isReleased).map(({ claim }) => this.messages.get(claim.id)!));
    this.#passOn();
    for (const id of handled) if (!this.messages.has(id)) this.keptIds.set(id, Instant.at(at));
    const report = { accepted, dropped: this.#dropOldestDead() };
    return this.limits.idsFor && settlements.some(keepsId) ? { ...report, idsDropped: 0 } : report;
  }

  resume(): void {
    this.paused = false;
    if (this.room > 0) this.#ringIfReady();
    else this.#passOnInVain();
  }

  clear(): number {
    this.history = [];
    return [...this.messages.keys()].filter((id) => this.remove(id)).length;
  }

  /** @param kept - the ids that are left: which of the oldest entries of one instant are dropped is open */
  remember(handlings: readonly Handling[], { from }: Moment, kept: readonly string[]): void {
    const { history } = this.limits;
    if (!history) return;
    const entries = new Map(this.history.map((entry) => [entry.id, entry]));
    for (const { id, entry } of handlings) {
      const known = entries.get(id);
      // It is sent again.
      if (known && isDeepStrictEqual(known.entry, entry)) continue;
      const body = history.payloads && entry.offeredAt > 1 ? this.messages.get(id)!.body : '';
      entries.set(id, { id, entry, body, at: Math.floor(from) });
    }
    const all = [...entries.values()].sort((one, other) => other.at - one.at || (one.id < other.id ? -1 : 1));
    this.history = all.filter(({ id }) => kept.includes(id));
    const oldest = this.history.at(-1)?.at ?? Infinity;
    expect(this.history).toHaveLength(Math.min(history.max, all.length));
    for (const { id, at } of all) if (!kept.includes(id)) expect(at).toBeLessThanOrEqual(oldest);
  }

  redrive(selection: DeadSelection, at: Moment): number {
    const selected = this.#select(selection);
    for (const message of selected) {
      toState(message, 'delayed');
      message.due = Instant.around(at);
      message.failedAttempts = 0;
    }
    return selected.length;
  }

  discard(selection: DeadSelection): number {
    return this.#select(selection).filter(({ id }) => this.remove(id)).length;
  }

  remove(id: string): boolean {
    this.readyList.remove(id);
    this.followers.delete(id);
    return this.messages.delete(id);
  }

  #end(message: ModelMessage, outcome: Outcome, at: Moment): void {
    if (outcome.kind === 'retry' || (outcome.kind === 'dead' && outcome.by !== 'lease')) message.failedAttempts++;
    if (outcome.kind === 'dead' && outcome.next) this.#leaveLetter(message, outcome, at);
    if ((outcome.kind === 'ack' || outcome.kind === 'dead') && this.#release(message, at)) return;
    if ((outcome.kind === 'ack' || outcome.kind === 'dead') && outcome.next) {
      if (!repeats(message) || outcome.next.at === null) return void this.remove(message.id);
      toState(message, 'delayed');
      message.due = new Instant(outcome.next.at);
      message.offered = Instant.at(at);
      message.failedAttempts = 0;
      return;
    }
    if (outcome.kind === 'ack') {
      this.remove(message.id);
    } else if (outcome.kind === 'dead') {
      this.deadLetter(message, outcome.error, at);
    } else if (outcome.kind === 'release') {
      toState(message, 'ready');
    } else {
      toState(message, 'delayed');
      message.due = 'at' in outcome ? new Instant(outcome.at) : Instant.after(outcome.delay, at);
    }
    if (outcome.kind === 'again') {
      message.offered = Instant.at(at);
      message.failedAttempts = 0;
    }
    if ('body' in outcome && outcome.body !== undefined) message.body = outcome.body.toString();
  }

  #leaveLetter(message: ModelMessage, { next, error }: Extract<Outcome, { kind: 'dead' }>, at: Moment): void {
    const { letter: id, failedAttempts } = next!;
    if (this.messages.has(id)) return;
    const { due, offered } = message;
    const letter: ModelMessage = { id, body: withoutRule(message.body), offered, due, state: 'dead', failedAttempts };
    letter.death = { error, at: Instant.at(at) };
    this.messages.set(id, letter);
  }

  /** @returns whether a follower has taken the place of the message */
  #release({ id }: ModelMessage, at: Moment): boolean {
    const follower = this.followers.get(id);
    if (!follower) return false;
    this.remove(id);
    this.insert({ id, ...follower }, at);
    return true;
  }

  #putBack(messages: readonly ModelMessage[]): void {
    for (const message of messages) toState(message, 'ready');
    this.readyList.addFirst(messages);
    if (messages.length > 0) this.#ringIfReady();
  }

  protected deadLetter(message: ModelMessage, error: string, at: Moment): void {
    toState(message, 'dead');
    message.death = { error, at: Instant.at(at) };
  }

  #dropOldestDead(): number {
    const dead = this.in('dead');
    const surplus = dead
      .filter(({ death }) => !death?.error.startsWith(UNREAD_ERROR))
      .slice(0, Math.max(0, dead.length - this.limits.maxDeadLetters));
    return surplus.filter(({ id }) => this.remove(id)).length;
  }

  #select(selection: DeadSelection): ModelMessage[] {
    const dead = this.in('dead');
    return 'id' in selection ? dead.filter(({ id }) => id === selection.id) : dead.slice(0, selection.oldest);
  }

  /** Wakes a consumer after a call that may have ended claims, if the queue limits its active messages. It may do so in vain. */
  #passOn(): void {
    if (!this.limits.globalConcurrency) return;
    if (this.room > 0) this.#ringIfReady();
    else this.#passOnInVain();
  }

  /** A store may wake a consumer although the call has ended no claim, or has made no room. */
  #passOnInVain(): false {
    if (this.limits.globalConcurrency && this.wakeSignal === 'none') this.wakeSignal = 'stale';
    return false;
  }

  #ringIfReady(): boolean {
    if (this.#isWorthWaking) this.wakeSignal = 'sent';
    return this.#isWorthWaking;
  }

  get #isWorthWaking(): boolean {
    return !this.paused && this.claimableNow > 0;
  }
}

const RULE = /^Nrepeat\n[^\n]*\n/;
const repeats = ({ body }: ModelMessage) => RULE.test(body);
const OWN_ATTEMPTS = /^(?:Ngroup\n[^\n]*\n)?Nretry\n(\d+)/;
const ownAttempts = ({ body }: ModelMessage) => Number(OWN_ATTEMPTS.exec(body)?.[1] ?? 0);
const withoutRule = (body: string) => body.replace(RULE, '');

function toState(message: ModelMessage, state: MessageState): void {
  message.state = state;
  message.lease = undefined;
  message.death = undefined;
}

function instantOf(due: DueTime, at: Moment): Instant {
  return 'at' in due ? new Instant(due.at) : Instant.after(due.after, at);
}

/** The ids of ready messages, as {@link ReadyList} keeps them. */
export type ReadyMessages = Pick<ReadyList, 'length' | 'add' | 'addFirst' | 'remove' | 'mayBeginWith'> & {
  /** True if the store may look at messages that must not be claimed, so that it reports more, and claims fewer, than there are. */
  readonly isVague?: boolean;
};

/**
 * Messages that the same call brings into a state have the same rank, whether it is exact yet or not. Leases that end
 * together end in the order of their tokens.
 */
function byRankAndId(a: ModelMessage, b: ModelMessage): number {
  return (
    rankOf(a).compare(rankOf(b)) ||
    byClaim(a, b) ||
    (a.entry ?? 0) - (b.entry ?? 0) ||
    (nameOf(a) === nameOf(b) ? 0 : nameOf(a) < nameOf(b) ? -1 : 1)
  );
}

function nameOf({ id, state, delayedAs = id }: ModelMessage): string {
  return state === 'delayed' ? delayedAs : id;
}

/** Active ones by claim and id, all others by rank. */
function byPlace(a: ModelMessage, b: ModelMessage): number {
  if (!a.lease || !b.lease) return byRankAndId(a, b);
  const [one, other] = [`${a.lease.token}\n${a.id}`, `${b.lease.token}\n${b.id}`];
  return one === other ? 0 : one < other ? -1 : 1;
}

function byClaim({ lease: a }: ModelMessage, { lease: b }: ModelMessage): number {
  if (!a || !b) return 0;
  return a.token === b.token ? a.place - b.place : a.token < b.token ? -1 : 1;
}

function rankOf({ death, lease, due }: ModelMessage): Instant {
  return death?.at ?? lease?.end ?? due;
}
