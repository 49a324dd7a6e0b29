import {
  changeInside,
  isPausedRepeat,
  isRepeating,
  occurrenceIn,
  ownAttempts,
  ruleAndContent,
  unwrapPutOff,
  withProgress,
} from '../../message/codec/body-forms.js';
import type { ComingAgain } from '../../message/handler-results.js';
import { PAUSED_UNTIL } from '../../message/repeat-rule.js';
import {
  type Claim,
  type ClaimRequest,
  LEASE_EXPIRED,
  type Outcome,
  type Settlement,
  UNREAD_ERROR,
} from '../consumer-store.js';
import type { DueTime, Offer, OfferReceipt, RepeatPause, RepeatPauseOutcome } from '../producer-store.js';
import type { MessagePast } from '../message-past.js';
import type { StoreLimits } from '../message-store.js';
import type { DeadSelection, GroupBacklog, GroupSettings } from '../admin-store.js';
import { ClaimRate, ClaimWindow } from './claim-rate.js';
import { MemoryGroups } from './memory-groups.js';
import { MessageTable, type MemoryMessage, rankAt } from './message-table.js';

/** How many dead letters are examined beyond the number to drop, because unreadable ones are skipped. */
const LOOK_PAST_UNREAD = 100;

const STATES_WITH_PERMITS = ['delayed', 'ready', 'active'] as const;

interface Taken {
  readonly messages: readonly MemoryMessage[];
  /** True if the queue's rate cut the claim short and ready messages remain. */
  readonly isRateSpent: boolean;
}

/** The rules by which one queue's messages change state. Everything here is synchronous, and nothing is announced. */
export class MemoryQueue {
  readonly table = new MessageTable();
  paused = false;
  #limits!: StoreLimits;
  /** Undefined if messages have no groups. */
  #groups: MemoryGroups | undefined;
  /** The settings of groups that have their own, by name. */
  readonly #groupSettings = new Map<string, Pick<GroupBacklog, 'paused' | 'concurrency'>>();
  /** The claims that have used the rate of each group, by name. */
  readonly #groupClaims = new Map<string, ClaimWindow>();
  /** Tokens of claims that other claims have superseded. */
  readonly #endedTokens = new Set<string>();
  rate = new ClaimRate();
  /** The queue's other messages: those with groups, or those without. Undefined if there are none. */
  others: MemoryQueue | undefined;
  /** Followers, by the id of the message that they follow. */
  readonly #followers = new Map<string, Pick<Offer, 'due' | 'body'>>();

  constructor(limits: StoreLimits) {
    this.limits = limits;
  }

  get limits(): StoreLimits {
    return this.#limits;
  }

  set limits(limits: StoreLimits) {
    this.#limits = limits;
    const { groups } = limits;
    if (!groups) this.#groups = undefined;
    else if (this.#groups?.rules !== groups)
      this.#groups = new MemoryGroups(groups, this.#groupSettings, this.#groupClaims);
  }

  claimable(most: number): MemoryMessage[] {
    if (!this.#groups) return this.table.list('ready', most);
    return this.#groups.choose(this.table.list('ready', this.table.count('ready')), most);
  }

  /** Returns the messages that have a permit. */
  holders(): MemoryMessage[] {
    return (
      this.#groups?.holders(STATES_WITH_PERMITS.flatMap((state) => this.table.list(state, this.table.count(state)))) ??
      []
    );
  }

  backlogs(): GroupBacklog[] {
    const holders = new Set(this.holders());
    const groups = new Map<string, GroupBacklog & { waiting: number; holding: number }>();
    const add = (group: string) => {
      const { paused = false, concurrency } = this.#groupSettings.get(group) ?? {};
      const added = groups.get(group) ?? { group, waiting: 0, holding: 0, paused, concurrency };
      groups.set(group, added);
      return added;
    };
    for (const group of this.#groupSettings.keys()) add(group);
    for (const { group } of holders) add(group).holding++;
    for (const message of this.table.list('ready', this.table.count('ready'))) {
      const of = groups.get(message.group);
      if (of && !holders.has(message)) of.waiting++;
    }
    return [...groups.values()];
  }

  setGroup(group: string, { paused, concurrency }: GroupSettings): void {
    const before = this.#groupSettings.get(group);
    const settings = {
      paused: paused ?? before?.paused ?? false,
      concurrency: concurrency === 'default' ? undefined : (concurrency ?? before?.concurrency),
    };
    if (settings.paused || settings.concurrency !== undefined) this.#groupSettings.set(group, settings);
    else this.#groupSettings.delete(group);
  }

  countClaimable(): number {
    return this.#groups ? this.claimable(Infinity).length : this.table.count('ready');
  }

  /** How many more messages may become active. */
  get room(): number {
    const active = this.table.count('active') + (this.others?.table.count('active') ?? 0);
    return Math.max(0, (this.limits.globalConcurrency ?? Infinity) - active);
  }

  takeIn(given: Offer, now: number): OfferReceipt {
    const { id } = given;
    const present = this.table.get(id);
    const offer = present && given.onDuplicate === 'repeat' ? this.#onRepeat(present, given, now) : given;
    const { due, maxWait, body, onDuplicate } = offer;
    if (present?.state === 'active' && onDuplicate === 'follow') {
      this.#followers.set(id, { due, body });
      return { outcome: 'followed', dueAt: present.dueAt };
    }
    if (present && onDuplicate !== 'replace') {
      // A message that is restored twice keeps the time of its offer.
      const isRejected = onDuplicate === 'reject' && present.offeredAt !== given.past?.offeredAt;
      return { outcome: isRejected ? 'rejected' : 'kept', dueAt: present.dueAt };
    }
    if (!present && this.table.size >= (this.limits.maxMessages ?? Infinity)) {
      return { outcome: 'full', dueAt: 0 };
    }
    if (present) this.remove(present);
    if (given.past) return this.#restore(given, present ? 'replaced' : 'created', given.past);
    const goesOn = maxWait !== undefined && present?.state === 'delayed';
    const offeredAt = goesOn ? present.offeredAt : Math.floor(now);
    const dueAt = Math.min(instantOf(due, now), offeredAt + (maxWait ?? Infinity));
    this.table.insert(id, Buffer.from(body), dueAt, offeredAt);
    return { outcome: present ? 'replaced' : 'created', dueAt };
  }

  #restore({ id, due, body }: Offer, outcome: OfferReceipt['outcome'], past: MessagePast): OfferReceipt {
    const { offeredAt, failedAttempts, death, rank, isHeld, follower } = past;
    const dueAt = instantOf(due, 0);
    const message = this.table.insert(id, Buffer.from(body), dueAt, offeredAt);
    message.failedAttempts = failedAttempts;
    if (death) this.table.deadLetter(message, death.error, death.at);
    else this.table.delay(message, dueAt, rank);
    if (isHeld) this.#groups?.take([message]);
    if (follower) this.#followers.set(id, follower);
    return { outcome, dueAt };
  }

  /** Returns what {@link takeIn} needs to restore a message. @param place - among the ready messages, if it is one of them */
  pastOf(message: MemoryMessage, place?: number): MessagePast {
    const { id, dueAt, offeredAt, failedAttempts, state, error, hasPermit } = message;
    const follower = this.#followers.get(id);
    const rank = place === undefined || !this.#groups ? message.rank : rankAt(place, dueAt);
    return {
      ...{ offeredAt, failedAttempts, isHeld: state === 'delayed' && hasPermit },
      death: state === 'dead' ? { at: rank, error } : null,
      // The rank of a message that waits for its group's rate says when that allows more.
      ...((state === 'delayed' || state === 'ready') && rank % 1 > 0 && Math.floor(rank) === dueAt && { rank }),
      ...(follower && { follower: { due: follower.due, body: Buffer.from(follower.body) } }),
    };
  }

  /**
   * Decides what an offer of a repeating message does, and returns the offer that does it: the given one keeps the existing message. If that
   * is due or being retried, it gets the new body. If it is paused, so is the offered one.
   */
  #onRepeat(present: MemoryMessage, offer: Offer, now: number): Offer {
    const { id, state, dueAt, failedAttempts } = present;
    const known = Buffer.from(this.#followers.get(id)?.body ?? unwrapPutOff(present.body).body);
    const offered = Buffer.from(offer.body);
    if (state === 'dead') return { ...offer, onDuplicate: 'replace' };
    if (ruleAndContent(known).equals(ruleAndContent(offered))) return offer;
    if (instantOf(offer.due, now) <= now) return { ...offer, onDuplicate: 'reject' };
    const isPaused = isPausedRepeat(known);
    const body = isPaused ? withProgress(offered, { isPaused }) : offered;
    if (state === 'active') return { ...offer, body, onDuplicate: 'follow' };
    if (state === 'delayed' && dueAt > now && failedAttempts === 0) {
      return { ...offer, body, onDuplicate: 'replace', ...(isPaused && { due: { at: PAUSED_UNTIL } }) };
    }
    present.body = changeInside(present.body, () => body);
    return offer;
  }

  remove(message: MemoryMessage): void {
    this.#groups?.leave(message);
    this.table.remove(message);
    this.dropFollower(message.id);
  }

  /** @returns true if there was a follower */
  dropFollower(id: string): boolean {
    return this.#followers.delete(id);
  }

  /** Ends a message's repetition. @returns true if it would have repeated */
  endRepetition(id: string): boolean {
    const message = this.table.get(id);
    if (!message || message.state === 'dead' || !repeats(message)) return false;
    message.body = occurrenceOf(message);
    return true;
  }

  pauseRepeat(id: string, { resume }: RepeatPause): RepeatPauseOutcome {
    const message = this.table.get(id);
    if (!message || message.state === 'dead' || !repeats(message)) return 'absent';
    const { state, dueAt, failedAttempts } = message;
    const { since, body } = unwrapPutOff(message.body);
    const isPaused = resume === undefined;
    if (isPausedRepeat(body) === isPaused) return 'kept';
    if (resume && !message.body.equals(resume.from)) return 'stale';
    message.body = changeInside(message.body, (inside) => withProgress(inside, { isPaused }));
    const follower = this.#followers.get(id);
    if (follower && isRepeating(Buffer.from(follower.body))) {
      this.#followers.set(id, { ...follower, body: withProgress(Buffer.from(follower.body), { isPaused }) });
    }
    if (state !== 'delayed') return 'changed';
    if (!resume && since === null && failedAttempts === 0) this.table.delay(message, PAUSED_UNTIL);
    if (resume && dueAt === PAUSED_UNTIL) this.table.delay(message, resume.at);
    return 'changed';
  }

  clear(): void {
    this.table.clear();
    this.#groups?.clear();
    this.#followers.clear();
  }

  /** Replaces the message with its follower. Without a follower, removes the message, or makes it a dead letter if there is an error. */
  end(message: MemoryMessage, now: number, error?: string): void {
    const follower = this.#followers.get(message.id);
    if (!follower && error !== undefined) {
      this.#groups?.leave(message);
      return this.table.deadLetter(message, error, Math.floor(now));
    }
    this.remove(message);
    if (!follower) return;
    const body = Buffer.from(follower.body);
    const dueAt = isPausedRepeat(body) ? PAUSED_UNTIL : instantOf(follower.due, now);
    this.table.insert(message.id, body, dueAt, Math.floor(now));
  }

  /** Removes the message. Its follower takes its place, unless the follower repeats. */
  abort(message: MemoryMessage, now: number): void {
    const follower = this.#followers.get(message.id);
    if (follower && isRepeating(Buffer.from(follower.body))) this.dropFollower(message.id);
    this.end(message, now);
  }

  transferDue(now: number, limit: number): MemoryMessage[] {
    const due = this.#passed('delayed', now, limit);
    due.forEach((message) => this.table.makeReady(message));
    return due;
  }

  /** Takes back active messages with an expired lease. Each becomes ready again or dead. */
  takeBackExpired(
    now: number,
    limit: number,
  ): { readonly recovered: number; readonly deadLettered: readonly string[] } {
    const expired = this.#passed('active', now, limit);
    const deadLettered = expired.filter((message) => !this.#takeBack(message, now)).map(({ id }) => id);
    return { recovered: expired.length - deadLettered.length, deadLettered };
  }

  claim({ token, supersedes, limit, maxBytes = Infinity, lease }: ClaimRequest, now: number): Taken {
    const passedOn = supersedes === undefined ? [] : this.table.listHeld(supersedes);
    if (supersedes !== undefined) this.#endedTokens.add(supersedes);
    const most = this.#hasTaken(token) ? 0 : limit;
    const { rate } = this.limits;
    const room = rate ? this.rate.room(rate, now) : Infinity;
    const takesReady = passedOn.length === 0 && !this.paused;
    const waiting = takesReady ? this.#withinGroupRates(Math.min(most, room, this.room), now) : passedOn;
    const taken = withinBytes(waiting.slice(0, most), maxBytes);
    this.table.lease(taken, token, Math.ceil(now + lease));
    this.#groups?.take(taken);
    this.table.makeReadyFirst(passedOn.slice(taken.length));
    if (rate && takesReady) this.rate.claims.count(taken.length, now);
    if (takesReady) this.#groups?.count(taken, now);
    // A claim that got all it asked for may have left its consumer without a free slot. Such a consumer could not make the next claim.
    const isCut = takesReady && taken.length === room && room < most;
    return { messages: taken, isRateSpent: isCut && this.room > 0 && this.claimable(1).length > 0 };
  }

  /** Takes due messages straight from delayed. Undefined, with nothing changed, if a condition of `transferAndClaim` is not met. */
  claimDue({ token, limit, maxBytes = Infinity, lease }: ClaimRequest, now: number): MemoryMessage[] | undefined {
    const { rate, groups, globalConcurrency } = this.limits;
    if (rate || groups || globalConcurrency || this.paused) return undefined;
    if (this.table.count('ready') > 0 || this.#endedTokens.has(token)) return undefined;
    if (this.#passed('active', now, 1).length > 0) return undefined;
    const due = this.#passed('delayed', now, limit);
    if (due.length > 0 && this.#hasTaken(token)) return undefined;
    const taken = withinBytes(due, maxBytes);
    this.table.lease(taken, token, Math.ceil(now + lease));
    return taken;
  }

  /** True if a consumer is waiting for the rate, so that no other needs to be woken. */
  isRateAwaited(now: number): boolean {
    return this.limits.rate ? this.rate.isAwaited(now) : false;
  }

  /** @returns how many ms later the caller must claim again; undefined if another consumer will */
  awaitRate(now: number): number | undefined {
    return this.limits.rate ? this.rate.await(this.limits.rate, now) : undefined;
  }

  /** Extends the leases of claims. Any other messages of their tokens become ready again. */
  extend<Held extends Claim>(
    claims: readonly Held[],
    until: number,
  ): { readonly lost: Held[]; readonly released: number } {
    const named = new Set(claims.flatMap((claim) => this.table.getHeld(claim) ?? []));
    const lost = claims.filter((claim) => !this.table.getHeld(claim));
    const strays: MemoryMessage[] = [];
    for (const token of new Set(claims.map((claim) => claim.token))) {
      const held = this.table.listHeld(token);
      const kept = held.filter((message) => named.has(message));
      this.table.lease(kept, token, until);
      strays.push(...held.filter((message) => !named.has(message)));
    }
    this.table.makeReadyFirst(strays);
    return { lost, released: strays.length };
  }

  settle(settlements: readonly Settlement[], now: number): { readonly accepted: boolean[]; readonly released: number } {
    const accepted = settlements.map((settlement) => this.#settleOne(settlement, now));
    // Each release put its message before those released earlier. Releasing all of them again together restores their order.
    const isReleased = ({ outcome }: Settlement, i: number) => outcome.kind === 'release' && accepted[i];
    const released = settlements.filter(isReleased).map(({ claim }) => this.table.get(claim.id)!);
    this.table.makeReadyFirst(released);
    return { accepted, released: released.length };
  }

  /** Removes the oldest dead letters beyond `maxDeadLetters`, except those with unreadable bodies. */
  dropDead(): number {
    const surplus = this.table.count('dead') - this.limits.maxDeadLetters;
    if (surplus <= 0) return 0;
    const oldest = this.table.list('dead', surplus + LOOK_PAST_UNREAD);
    const dropped = oldest.filter(({ error }) => !error.startsWith(UNREAD_ERROR)).slice(0, surplus);
    for (const message of dropped) this.table.remove(message);
    return dropped.length;
  }

  selectDead(selection: DeadSelection): MemoryMessage[] {
    if ('oldest' in selection) return this.table.list('dead', selection.oldest);
    const message = this.table.getIn('dead', selection.id);
    return message ? [message] : [];
  }

  /** @returns false if the message is dead */
  #takeBack(message: MemoryMessage, now: number): boolean {
    message.failedAttempts++;
    // A repeating message must be claimed for its occurrence to end, because only a calendar knows the next one.
    // One with fewer attempts than the queue must be claimed, too, as in Redis, where a transfer does not read all records.
    const attempts = Math.max(this.limits.attempts, ownAttempts(message.body) ?? 0);
    const mayTryAgain = message.failedAttempts < attempts || repeats(message);
    if (mayTryAgain) this.table.makeReady(message);
    else this.end(message, now, JSON.stringify(LEASE_EXPIRED));
    return mayTryAgain;
  }

  #settleOne({ claim, outcome }: Settlement, now: number): boolean {
    const message = this.table.getHeld(claim);
    if (!message) return false;
    if ('body' in outcome && outcome.body !== undefined && !('next' in outcome)) {
      message.body = bodyAfter(message, Buffer.from(outcome.body));
    }
    if (outcome.kind === 'retry' || (outcome.kind === 'dead' && outcome.by !== 'lease')) message.failedAttempts++;
    if (outcome.kind === 'again') this.table.renew(message, Math.floor(now));
    if ((outcome.kind === 'ack' || outcome.kind === 'dead') && outcome.next) this.#scheduleNext(message, outcome, now);
    else if (outcome.kind === 'ack') this.end(message, now);
    else if (outcome.kind === 'release') this.table.makeReadyFirst([message]);
    else if (outcome.kind === 'dead') this.end(message, now, outcome.error);
    else {
      if (outcome.kind !== 'retry' || this.#groups?.rules.onRetry === 'pass') this.#groups?.leave(message);
      this.table.delay(message, againAt(outcome, now));
    }
    return true;
  }

  /** Ends an occurrence. Its message comes again, unless its repetition has ended or its follower takes its place. */
  #scheduleNext(message: MemoryMessage, outcome: Extract<Outcome, { kind: 'ack' | 'dead' }>, now: number): void {
    if (outcome.kind === 'dead' && !this.table.get(outcome.next!.letter)) {
      const { letter, failedAttempts } = outcome.next!;
      const deadLettered = this.table.insert(letter, occurrenceOf(message), message.dueAt, message.offeredAt);
      deadLettered.failedAttempts = failedAttempts;
      this.table.deadLetter(deadLettered, outcome.error, Math.floor(now));
    }
    const { at, count } = outcome.next!;
    if (this.#followers.has(message.id) || !repeats(message) || at === null) return this.end(message, now);
    const { body } = unwrapPutOff(message.body);
    message.body = Buffer.from(count === undefined ? body : withProgress(body, { count }));
    this.table.renew(message, Math.floor(now));
    this.table.delay(message, isPausedRepeat(body) ? PAUSED_UNTIL : at);
  }

  /** Returns messages to claim. Delays those whose group has used up its rate: they keep their permits until it allows more. */
  #withinGroupRates(most: number, now: number): MemoryMessage[] {
    const rate = this.#groups?.rules.rate;
    if (!rate) return this.claimable(most);
    for (;;) {
      const ready = this.claimable(most);
      const beyond = this.#groups!.beyondRate(rate, ready, now);
      for (const { message, until } of beyond) {
        this.#groups!.take([message]);
        this.table.putOff(message, Math.ceil(until));
      }
      if (beyond.length === 0 || beyond.length < ready.length) return ready.filter(({ state }) => state === 'ready');
    }
  }

  /** True if the token has already taken messages, or its claim has been superseded. */
  #hasTaken(token: string): boolean {
    return this.#endedTokens.has(token) || this.table.listHeld(token).length > 0;
  }

  #passed(state: 'delayed' | 'active', now: number, limit: number): MemoryMessage[] {
    return this.table.list(state, limit).filter(({ rank }) => Math.floor(rank) <= now);
  }
}

const repeats = ({ body }: MemoryMessage) => isRepeating(unwrapPutOff(body).body);

/**
 * Returns the body that an outcome gives a message. If the repetition has been cancelled since the claim, the body must not bring its rule
 * back; if it has been paused or resumed, the body adopts that.
 */
function bodyAfter(message: MemoryMessage, given: Buffer): Buffer {
  if (!repeats(message)) return changeInside(given, occurrenceIn);
  const isPaused = isPausedRepeat(unwrapPutOff(message.body).body);
  return changeInside(given, (inside) => (isRepeating(inside) ? withProgress(inside, { isPaused }) : inside));
}

function occurrenceOf({ body }: MemoryMessage): Buffer {
  return Buffer.from(occurrenceIn(unwrapPutOff(body).body));
}

/** Returns the due time, ms. Rounds up, because a fraction of a millisecond late is better than early. */
export function instantOf(due: DueTime, now: number): number {
  return 'at' in due ? due.at : Math.ceil(now + due.after);
}

function againAt(outcome: ComingAgain, now: number): number {
  return 'at' in outcome ? outcome.at : Math.ceil(now + outcome.delay);
}

/** Returns the first messages whose bodies together fit into `maxBytes`, but at least one message. */
export function withinBytes<Message extends { readonly body: Buffer }>(
  messages: readonly Message[],
  maxBytes: number,
): Message[] {
  let bytes = 0;
  return messages.filter(({ body }, i) => (bytes += body.length) <= maxBytes || i === 0);
}
