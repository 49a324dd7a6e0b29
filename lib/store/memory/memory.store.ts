import type { Clock } from '../../timing/clock.js';
import { formatCursor, parseCursor } from '../dead-letter.cursor.js';
import {
  LEASE_EXPIRED,
  type Claim,
  type ClaimReport,
  type ClaimRequest,
  type DeadPage,
  type DeadSelection,
  type Doorbell,
  type DueListener,
  type DueTime,
  type MessageStore,
  type Offer,
  type OfferOutcome,
  type OfferReceipt,
  type QueueStatus,
  type RepairReport,
  type Settlement,
  type SettleReport,
  type StoredMessage,
  type StoreLimits,
  type TransferReport,
  type TransferRequest,
} from '../message-store.js';
import { DueAnnouncer } from './due-announcer.js';
import { MemoryDoorbells } from './memory-doorbells.js';
import { MessageTable, type MemoryMessage } from './message-table.js';

/**
 * Keeps the messages of one queue in this process: for tests and for trying out. They are gone when the process is.
 *
 * Its clock starts at the wall clock and goes on with the monotonic one. Delays and leases are lengths of time: a wall
 * clock that is set forward must not make messages early, nor take leases from handlers that keep them.
 */
export class MemoryMessageStore implements MessageStore {
  #limits: StoreLimits;
  readonly #now: () => number;
  readonly #table = new MessageTable();
  readonly #doorbells: MemoryDoorbells;
  readonly #announcer = new DueAnnouncer();
  /** Tokens of claims in whose place others came. */
  readonly #endedTokens = new Set<string>();
  #paused = false;
  #lastMove: TransferReport['lastMove'] = null;

  constructor({ limits, clock }: { limits: StoreLimits; clock: Clock }) {
    const epoch = clock.wall() - clock.monotonic();
    this.#limits = limits;
    this.#now = () => epoch + clock.monotonic();
    this.#doorbells = new MemoryDoorbells(clock);
  }

  /** From now on. */
  limit(limits: StoreLimits): void {
    this.#limits = limits;
  }

  offer(offers: readonly Offer[]): Promise<OfferReceipt[]> {
    return this.#atomically((now) => offers.map((offer) => this.#takeIn(offer, now)));
  }

  cancel(id: string): Promise<boolean> {
    return this.#atomically(() => {
      const message = this.#table.getIn('delayed', id);
      if (message) {
        this.#table.remove(message);
      }
      return message !== undefined;
    });
  }

  reschedule(id: string, due: DueTime): Promise<boolean> {
    return this.#atomically((now) => {
      const message = this.#table.getIn('delayed', id);
      if (message) {
        this.#table.delay(message, instantOf(due, now));
      }
      return message !== undefined;
    });
  }

  find(id: string): Promise<StoredMessage | null> {
    return this.#atomically(() => {
      const message = this.#table.get(id);
      if (!message) {
        return null;
      }
      const { state, rank } = message;
      return { ...copyOf(message), state, leasedUntil: state === 'active' ? rank : null };
    });
  }

  transfer({ scheduler, limit }: TransferRequest): Promise<TransferReport> {
    return this.#atomically((now) => {
      const due = this.#passed('delayed', now, limit);
      const expired = this.#passed('active', now, limit);
      due.forEach((message) => this.#table.lineUp(message));
      const recovered = expired.filter((message) => this.#takeBack(message, now)).length;
      const dropped = this.#dropDead();
      if (due.length > 0) {
        this.#lastMove = { scheduler, at: Math.floor(now) };
      }
      this.#ringForReady();

      const next = Math.min(this.#table.earliest('delayed') ?? Infinity, this.#table.earliest('active') ?? Infinity);
      return {
        moved: due.length,
        recovered,
        buried: expired.length - recovered,
        dropped,
        more: due.length === limit || expired.length === limit,
        ready: this.#table.count('ready'),
        nextIn: next === Infinity ? null : Math.max(0, next - now),
        nextAt: next === Infinity ? null : next,
        lastMove: this.#lastMove,
      };
    });
  }

  claim({ token, insteadOf, limit, maxBytes = Infinity, lease }: ClaimRequest): Promise<ClaimReport> {
    return this.#atomically((now) => {
      const passedOn = insteadOf === undefined ? [] : this.#table.listHeld(insteadOf);
      if (insteadOf !== undefined) this.#endedTokens.add(insteadOf);
      const most = this.#hasTaken(token) ? 0 : limit;
      const waiting = passedOn.length > 0 || this.#paused ? passedOn : this.#table.list('ready', most);
      const taken = withinBytes(waiting.slice(0, most), maxBytes);
      this.#table.lease(taken, token, Math.ceil(now + lease));
      this.#table.lineUpFirst(passedOn.slice(taken.length));
      const more = this.#ringForReady();
      return { messages: taken.map(copyOf), more, orphans: [] };
    });
  }

  ring(): Promise<void> {
    return this.#atomically(() => {
      this.#ringForReady();
    });
  }

  extend(claims: readonly Claim[], lease: number): Promise<string[]> {
    return this.#atomically((now) => {
      const named = new Set(claims.flatMap((claim) => this.#table.getHeld(claim) ?? []));
      const lost = claims.filter((claim) => !this.#table.getHeld(claim)).map(({ id }) => id);
      const strays: MemoryMessage[] = [];
      for (const token of new Set(claims.map((claim) => claim.token))) {
        const held = this.#table.listHeld(token);
        const kept = held.filter((message) => named.has(message));
        this.#table.lease(kept, token, Math.ceil(now + lease));
        strays.push(...held.filter((message) => !named.has(message)));
      }
      this.#lineUpFirst(strays);
      return lost;
    });
  }

  settle(settlements: readonly Settlement[]): Promise<SettleReport> {
    return this.#atomically((now) => {
      const accepted = settlements.map((settlement) => this.#settleOne(settlement, now));
      // Once more and together, so that they keep their order.
      const isReleased = ({ outcome }: Settlement, i: number) => outcome.kind === 'release' && accepted[i];
      this.#lineUpFirst(settlements.filter(isReleased).map(({ claim }) => this.#table.get(claim.id)!));
      return { accepted, dropped: this.#dropDead() };
    });
  }

  /** Every message here is in exactly one state: the table moves it in one step. */
  repair(): Promise<RepairReport> {
    return Promise.resolve({ repaired: [], cursor: null });
  }

  status(): Promise<QueueStatus> {
    return this.#atomically(() => ({
      counts: this.#table.counts(),
      nextDue: this.#table.earliest('delayed') ?? null,
      paused: this.#paused,
    }));
  }

  pause(): Promise<void> {
    return this.#atomically(() => {
      this.#paused = true;
    });
  }

  resume(): Promise<void> {
    return this.#atomically(() => {
      this.#paused = false;
      this.#ringForReady();
    });
  }

  clear(): Promise<number> {
    return this.#atomically(() => {
      const removed = this.#table.size;
      this.#table.clear();
      return removed;
    });
  }

  listDead({ cursor, limit }: { cursor: string | undefined; limit: number }): Promise<DeadPage> {
    return this.#atomically(() => {
      const behind = cursor === undefined ? undefined : parseCursor(cursor);
      const found = this.#table.list('dead', limit + 1, behind && { rank: behind.diedAt, id: behind.id });
      const letters = found
        .slice(0, limit)
        .map((message) => ({ ...copyOf(message), diedAt: message.rank, error: message.error }));
      const last = letters.at(-1);
      return { letters, cursor: found.length > limit && last ? formatCursor(last) : null };
    });
  }

  redrive(selection: DeadSelection): Promise<number> {
    return this.#atomically((now) => {
      const selected = this.#selectDead(selection);
      for (const message of selected) {
        message.failedAttempts = 0;
        this.#table.delay(message, Math.ceil(now));
      }
      return selected.length;
    });
  }

  discard(selection: DeadSelection): Promise<number> {
    return this.#atomically(() => {
      const selected = this.#selectDead(selection);
      selected.forEach((message) => this.#table.remove(message));
      return selected.length;
    });
  }

  watchDue(listener: DueListener): () => void {
    return this.#announcer.watch(listener);
  }

  openDoorbell(): Doorbell {
    return this.#doorbells.open();
  }

  /** Runs `work` at once and whole: nothing in it waits. If it made the earliest due time earlier, that is announced. */
  #atomically<T>(work: (now: number) => T): Promise<T> {
    return new Promise((resolve) => {
      const now = this.#now();
      const before = this.#table.earliest('delayed') ?? Infinity;
      const result = work(now);
      const after = this.#table.earliest('delayed') ?? Infinity;
      if (after < before) {
        this.#announcer.announce(after, now);
      }
      resolve(result);
    });
  }

  #takeIn({ id, due, onDuplicate, body }: Offer, now: number): OfferReceipt {
    const present = this.#table.get(id);
    if (present && onDuplicate !== 'replace') {
      return { outcome: onDuplicate === 'keep' ? 'kept' : 'rejected', dueAt: present.dueAt };
    }
    if (!present && this.#table.size >= (this.#limits.maxMessages ?? Infinity)) {
      return { outcome: 'full', dueAt: 0 };
    }
    if (present) {
      this.#table.remove(present);
    }
    const dueAt = instantOf(due, now);
    const outcome: OfferOutcome = present ? 'replaced' : 'created';
    this.#table.insert(id, Buffer.from(body), dueAt, Math.floor(now));
    return { outcome, dueAt };
  }

  /** @returns whether it may try again; if not, it is dead */
  #takeBack(message: MemoryMessage, now: number): boolean {
    message.failedAttempts++;
    const mayTryAgain = message.failedAttempts < this.#limits.attempts;
    if (mayTryAgain) {
      this.#table.lineUp(message);
    } else {
      this.#table.bury(message, JSON.stringify(LEASE_EXPIRED), Math.floor(now));
    }
    return mayTryAgain;
  }

  #settleOne({ claim, outcome }: Settlement, now: number): boolean {
    const message = this.#table.getHeld(claim);
    if (!message) {
      return false;
    }
    switch (outcome.kind) {
      case 'ack':
        this.#table.remove(message);
        break;
      case 'retry':
        message.failedAttempts++;
        this.#table.delay(message, Math.ceil(now + outcome.delay));
        break;
      case 'defer':
        this.#table.delay(message, Math.ceil(now + outcome.delay));
        break;
      case 'again':
        this.#table.renew(
          message,
          outcome.body === undefined ? message.body : Buffer.from(outcome.body),
          Math.floor(now),
        );
        this.#table.delay(message, Math.ceil(now + outcome.delay));
        break;
      case 'release':
        this.#table.lineUpFirst([message]);
        break;
      case 'dead':
        message.failedAttempts++;
        this.#table.bury(message, outcome.error, Math.floor(now));
        break;
    }
    return true;
  }

  #lineUpFirst(messages: readonly MemoryMessage[]): void {
    this.#table.lineUpFirst(messages);
    if (messages.length > 0) this.#ringForReady();
  }

  /** A token takes once; and not at all, once another claim has come in its place. */
  #hasTaken(token: string): boolean {
    return this.#endedTokens.has(token) || this.#table.listHeld(token).length > 0;
  }

  #dropDead(): number {
    const surplus = Math.max(0, this.#table.count('dead') - this.#limits.maxDeadLetters);
    this.#table.list('dead', surplus).forEach((message) => this.#table.remove(message));
    return surplus;
  }

  /**
   * A paused queue rings nobody: the consumer that woke would claim nothing and the ring would go round in circles.
   *
   * @returns whether there was something to ring for
   */
  #ringForReady(): boolean {
    const worthIt = !this.#paused && this.#table.count('ready') > 0;
    if (worthIt) {
      this.#doorbells.ring();
    }
    return worthIt;
  }

  /** Those whose due time or lease end has passed. */
  #passed(state: 'delayed' | 'active', now: number, limit: number): MemoryMessage[] {
    return this.#table.list(state, limit).filter(({ rank }) => rank <= now);
  }

  #selectDead(selection: DeadSelection): MemoryMessage[] {
    if ('oldest' in selection) {
      return this.#table.list('dead', selection.oldest);
    }
    const message = this.#table.getIn('dead', selection.id);
    return message ? [message] : [];
  }
}

/** Rounded up: a fraction of a millisecond late rather than early. */
function instantOf(due: DueTime, now: number): number {
  return 'at' in due ? due.at : Math.ceil(now + due.after);
}

/** The first messages, as far as their bodies stay within so many bytes; one at least. */
function withinBytes(messages: readonly MemoryMessage[], maxBytes: number): MemoryMessage[] {
  let bytes = 0;
  return messages.filter(({ body }, i) => (bytes += body.length) <= maxBytes || i === 0);
}

/** What leaves the store has bytes of its own, so that no handler changes what the next attempt reads. */
function copyOf({ id, body, failedAttempts, dueAt, offeredAt }: MemoryMessage) {
  return { id, body: Buffer.from(body), failedAttempts, dueAt, offeredAt };
}
