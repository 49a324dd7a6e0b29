import { unwrapPutOff } from '../../message/codec/body-forms.js';
import { type Clock, steadyClock } from '../../timing/clock.js';
import type { MessageState } from '../../message/message.js';
import {
  type Announcer,
  type Claim,
  type ClaimedTransfer,
  type ClaimReport,
  type ClaimRequest,
  type DueListener,
  type Handling,
  keepsId,
  type Settlement,
  type SettleReport,
  type TransferReport,
  type TransferRequest,
  type WakeSignal,
} from '../consumer-store.js';
import type {
  Change,
  ChangeOutcome,
  DueTime,
  Offer,
  OfferReceipt,
  RepeatPause,
  RepeatPauseOutcome,
} from '../producer-store.js';
import type {
  RestoreOutcome,
  ScannedEntry,
  ScannedId,
  ScannedMessage,
  ScannedPage,
  ScannedPast,
} from '../message-past.js';
import type { MessageStore, StoreLimits } from '../message-store.js';
import type {
  DeadSelection,
  GroupBacklogs,
  GroupPage,
  GroupPageRequest,
  GroupSettings,
  StoredPage,
  PageRequest,
  PermitHolders,
  QueueStatus,
  RedriveOptions,
  RepairReport,
  StoredMessage,
  TypeCountPage,
} from '../admin-store.js';
import { ClaimRate } from './claim-rate.js';
import { DueAnnouncer, MemoryWakeSignals } from './memory-signals.js';
import { MemoryHistory } from './memory-history.js';
import { MemoryKeptIds } from './memory-kept-ids.js';
import { instantOf, MemoryQueue } from './memory-queue.js';
import { listPage } from './message-page.js';
import type { MemoryMessage, MessageTable } from './message-table.js';

/**
 * Keeps one queue's messages in this process, for tests and experiments. They are lost when the process ends. The store's clock starts at
 * the wall clock and continues with the monotonic one, so setting the wall clock forward makes no message early and ends no lease.
 */
export class MemoryMessageStore implements MessageStore {
  readonly #now: () => number;
  readonly #queue: MemoryQueue;
  readonly #table: MessageTable;
  readonly #history = new MemoryHistory();
  readonly #keptIds = new MemoryKeptIds();
  readonly #wakeSignals: MemoryWakeSignals;
  readonly #announcer = new DueAnnouncer();
  /** The store of the queue's other messages: those with groups, or those without. Undefined if there are none. */
  #others: MemoryMessageStore | undefined;

  constructor({ limits, clock }: { limits: StoreLimits; clock: Clock }) {
    this.#now = steadyClock(clock);
    this.#queue = new MemoryQueue(limits);
    this.#table = this.#queue.table;
    this.#wakeSignals = new MemoryWakeSignals(clock);
  }

  /** Makes this store and the queue's other one share a rate and a limit of active messages from now on. */
  shareLimits(other: MemoryMessageStore): void {
    const { claims } = other.#queue.rate;
    if (this.#queue.rate.claims !== claims) this.#queue.rate = new ClaimRate(claims);
    this.#others = other;
    this.#queue.others = other.#queue;
    other.#others = this;
    other.#queue.others = this.#queue;
  }

  limit(limits: StoreLimits): void {
    this.#queue.limits = limits;
  }

  /** Announces that the limits have changed. */
  limitsChanged(): void {
    this.#announcer.announceLimits();
  }

  offer(offers: readonly Offer[]): Promise<OfferReceipt[]> {
    return this.#atomically((now) => {
      const receipts = offers.map((offer) => this.#receiptOfKept(offer, now) ?? this.#queue.takeIn(offer, now));
      // A replaced message may have had a permit, which is now free.
      if (receipts.some(({ outcome }) => outcome === 'replaced')) this.#wakeForPermits();
      return receipts;
    });
  }

  freeId(id: string): Promise<boolean> {
    return this.#atomically((now) => {
      const { idsFor } = this.#queue.limits;
      return idsFor ? this.#keptIds.free(id, Math.floor(now), idsFor) : false;
    });
  }

  cancel(id: string): Promise<boolean> {
    return this.#atomically(() => {
      const message = this.#table.getIn('delayed', id);
      if (message) this.#queue.remove(message);
      if (this.#hasGroups) this.#wakeForReady();
      const isEnded = !message && this.#queue.endRepetition(id);
      return this.#queue.dropFollower(id) || isEnded || message !== undefined;
    });
  }

  reschedule(id: string, due: DueTime): Promise<boolean> {
    return this.#atomically((now) => {
      const message = this.#table.getNotDue(id);
      if (message) this.#table.delay(message, instantOf(due, now));
      return message !== undefined;
    });
  }

  change(id: string, { due, from, to }: Change): Promise<ChangeOutcome> {
    return this.#atomically((now) => {
      const message = this.#table.getNotDue(id);
      if (!message) return 'absent';
      if (!message.body.equals(from)) return 'stale';
      message.body = Buffer.from(to);
      this.#table.delay(message, instantOf(due, now));
      return 'changed';
    });
  }

  pauseRepeat(id: string, pause: RepeatPause): Promise<RepeatPauseOutcome> {
    return this.#atomically(() => this.#queue.pauseRepeat(id, pause));
  }

  find(id: string): Promise<StoredMessage | null> {
    return this.#atomically(() => {
      const message = this.#table.get(id);
      return message ? snapshotOf(message) : null;
    });
  }

  findHandled(id: string): Promise<StoredMessage | null> {
    return this.#atomically((now) => this.#history.find(id, now));
  }

  /** Returns the first message in a state synchronously; undefined if the state is empty. */
  first(state: MessageState): StoredMessage | undefined {
    const [message] = this.#table.list(state, 1);
    return message && snapshotOf(message);
  }

  transfer({ announcer, limit }: TransferRequest): Promise<TransferReport> {
    return this.#atomically((now) => {
      const moved = this.#queue.transferDue(now, limit).length;
      const { recovered, deadLettered } = this.#queue.takeBackExpired(now, limit);
      const dropped = this.#queue.dropDead();
      if (!this.#queue.isRateAwaited(now)) this.#wakeForReady();

      const more = moved === limit || recovered + deadLettered.length === limit;
      const ready = this.#queue.countClaimable();
      return this.#report({ moved, recovered, deadLettered, dropped, more, ready }, now, announcer);
    });
  }

  transferAndClaim(request: ClaimRequest, announcer?: Announcer): Promise<ClaimedTransfer | undefined> {
    return this.#atomically((now) => {
      const taken = this.#queue.claimDue(request, now);
      if (!taken) return undefined;
      const more = (this.#table.earliest('delayed') ?? Infinity) <= now;
      const counts = { moved: taken.length, recovered: 0, deadLettered: [], dropped: 0, more, ready: 0 };
      const report = this.#report(counts, now, announcer);
      return { report, claimed: { messages: taken.map(copyOf), now, orphans: [], more: false } };
    });
  }

  claim(request: ClaimRequest): Promise<ClaimReport> {
    return this.#atomically((now) => {
      const { messages, isRateSpent } = this.#queue.claim(request, now);
      const answer = { messages: messages.map(copyOf), now, orphans: [] };
      if (!isRateSpent) return { ...answer, more: this.#wakeForReady() };
      return { ...answer, more: false, claimAgainIn: this.#queue.awaitRate(now) };
    });
  }

  wake(): Promise<void> {
    return this.#atomically(() => void this.#wakeForReady());
  }

  extend<Held extends Claim>(claims: readonly Held[], lease: number): Promise<Held[]> {
    return this.#atomically((now) => {
      const { lost, released } = this.#queue.extend(claims, Math.ceil(now + lease));
      if (released > 0) this.#wakeForReady();
      return lost;
    });
  }

  settle(settlements: readonly Settlement[]): Promise<SettleReport> {
    return this.#atomically((now) => {
      const { accepted, released } = this.#queue.settle(settlements, now);
      if (!this.#wakeForPermits() && released > 0) this.#wakeForReady();
      return { accepted, dropped: this.#queue.dropDead(), ...this.#keepIds(settlements, accepted, now) };
    });
  }

  remember(handlings: readonly Handling[]): Promise<void> {
    return this.#atomically((now) => {
      const { history } = this.#queue.limits;
      if (history) this.#history.remember(handlings, { now: Math.floor(now), history, table: this.#table });
    });
  }

  abort(id: string): Promise<boolean> {
    return this.#atomically((now) => {
      const message = this.#table.getIn('active', id);
      if (!message) return false;
      this.#announcer.announceAbort({ id, token: message.token! });
      this.#queue.abort(message, now);
      this.#wakeForPermits();
      return true;
    });
  }

  /** Does nothing: no message is ever orphaned, because the table moves messages between states in one step. */
  repair(): Promise<RepairReport> {
    return Promise.resolve({ ready: [], delayed: [], cursor: null });
  }

  status(): Promise<QueueStatus> {
    return this.#atomically(() => this.glance());
  }

  countTypes(): Promise<TypeCountPage> {
    return this.#atomically(() => ({ counts: this.#table.countTypes(), cursor: null }));
  }

  countDue(times: readonly number[]): Promise<readonly number[]> {
    return this.#atomically(() => {
      const before = [0, ...times.map((time) => this.#table.countDueBefore(time)), this.#table.count('delayed')];
      return before.slice(1).map((count, i) => count - before[i]!);
    });
  }

  /** True if a message is active or can be claimed. */
  get isBusy(): boolean {
    return this.#table.count('active') > 0 || (!this.#queue.paused && this.#queue.claimable(1).length > 0);
  }

  get #hasGroups(): boolean {
    return Boolean(this.#queue.limits.groups);
  }

  /** Like {@link status}, but synchronous. */
  glance(): QueueStatus {
    return {
      counts: this.#table.counts(),
      now: Math.floor(this.#now()),
      nextDue: this.#table.earliest('delayed') ?? null,
      oldestReady: this.#queue.claimable(1)[0]?.dueAt ?? null,
      paused: this.#queue.paused,
    };
  }

  pause(): Promise<void> {
    return this.#atomically(() => {
      this.#queue.paused = true;
    });
  }

  resume(): Promise<void> {
    return this.#atomically(() => {
      this.#queue.paused = false;
      this.#wakeForReady();
    });
  }

  clear(): Promise<number> {
    return this.#atomically(() => {
      const removed = this.#table.size;
      this.#queue.clear();
      this.#history.clear();
      return removed;
    });
  }

  list(request: PageRequest): Promise<StoredPage> {
    return this.#atomically((now) => {
      const { state } = request;
      if (state === 'handled') return this.#history.page(request, now);
      return listPage(this.#table, { ...request, state }, snapshotOf);
    });
  }

  listGroup({ group }: GroupPageRequest): Promise<GroupPage> {
    return this.#atomically(() => ({ members: this.#table.listGroup(group), cursor: null }));
  }

  setGroup(group: string, settings: GroupSettings): Promise<void> {
    return this.#atomically(() => {
      this.#queue.setGroup(group, settings);
      this.#wakeForReady();
    });
  }

  listGroups(): Promise<GroupBacklogs> {
    return this.#atomically(() => {
      const groups = this.#queue.backlogs();
      return { groups, total: groups.length, cursor: null };
    });
  }

  listHolders(): Promise<PermitHolders> {
    return this.#atomically(() => {
      const holders = this.#queue.holders().map(({ id, group }) => ({ id, group }));
      return { holders, cursor: null };
    });
  }

  scan(): Promise<ScannedPage> {
    return this.#atomically(() => {
      const places = new Map(this.#table.list('ready', Infinity).map((message, place) => [message, place]));
      const messages = this.#table.all().map((message): ScannedMessage => {
        const { id, body, dueAt } = copyOf(message);
        return { id, state: message.state, dueAt, body, ...this.#queue.pastOf(message, places.get(message)) };
      });
      return { messages, cursor: null };
    });
  }

  scanHistory(): Promise<ScannedPast<ScannedEntry>> {
    return this.#atomically((now) => ({ found: this.#history.scan(now), cursor: null }));
  }

  scanKeptIds(): Promise<ScannedPast<ScannedId>> {
    return this.#atomically((now) => ({ found: this.#keptIds.scan(Math.floor(now)), cursor: null }));
  }

  restoreHandled(entry: ScannedEntry): Promise<RestoreOutcome> {
    return this.#atomically((now) => this.#history.restore(entry, now, this.#queue.limits.history));
  }

  restoreKeptId(kept: ScannedId): Promise<RestoreOutcome> {
    return this.#atomically((now) => this.#keptIds.restore(kept, Math.floor(now), this.#queue.limits.idsFor));
  }

  redrive(selection: DeadSelection, { unwrap = false }: RedriveOptions = {}): Promise<number> {
    return this.#atomically((now) => {
      const selected = this.#queue.selectDead(selection);
      for (const message of selected) {
        message.failedAttempts = 0;
        if (unwrap) message.body = unwrapPutOff(message.body).body;
        this.#table.delay(message, Math.ceil(now));
      }
      return selected.length;
    });
  }

  discard(selection: DeadSelection): Promise<number> {
    return this.#atomically(() => {
      const selected = this.#queue.selectDead(selection);
      selected.forEach((message) => this.#queue.remove(message));
      return selected.length;
    });
  }

  watchDue(listener: DueListener): () => void {
    return this.#announcer.watch(listener);
  }

  openWakeSignal(): WakeSignal {
    return this.#wakeSignals.open();
  }

  #keepIds(
    settlements: readonly Settlement[],
    accepted: readonly boolean[],
    now: number,
  ): Pick<SettleReport, 'idsDropped'> | undefined {
    const { idsFor } = this.#queue.limits;
    if (!idsFor || !settlements.some(keepsId)) return undefined;
    const handled = settlements.filter((settlement, i) => accepted[i] && keepsId(settlement));
    // A follower may have taken a message's place.
    const ids = handled.map(({ claim }) => claim.id).filter((id) => !this.#table.get(id));
    return { idsDropped: this.#keptIds.keep(ids, Math.floor(now), idsFor) };
  }

  #receiptOfKept({ id, past }: Offer, now: number): OfferReceipt | undefined {
    // A message that is restored was there all the time, so it is no repeated offer.
    const idsFor = past ? null : this.#queue.limits.idsFor;
    const handledAt = idsFor ? this.#keptIds.timeOf(id, Math.floor(now), idsFor) : undefined;
    return handledAt === undefined ? undefined : { outcome: 'handled', dueAt: handledAt };
  }

  /** Adds the next due time to the report of a transfer, and announces the transfer. */
  #report(
    counts: Omit<TransferReport, 'nextIn' | 'nextAt' | 'at'>,
    now: number,
    announcer: Announcer | undefined,
  ): TransferReport {
    const next = Math.min(this.#table.earliest('delayed') ?? Infinity, this.#table.earliest('active') ?? Infinity);
    const nextAt = next === Infinity ? null : next;
    const nextIn = nextAt === null ? null : Math.max(0, nextAt - now);
    const report = { ...counts, nextIn, nextAt, at: now };
    if (announcer) this.#announcer.announceTransfer(announcer, report);
    return report;
  }

  /** Runs `work` synchronously. If a message now falls due before all others, announces it. */
  #atomically<T>(work: (now: number) => T): Promise<T> {
    return new Promise((resolve) => {
      const now = this.#now();
      const before = this.#table.earliest('delayed') ?? Infinity;
      const result = work(now);
      const after = this.#table.earliest('delayed') ?? Infinity;
      if (after < before) this.#announcer.announce(after, now);
      resolve(result);
    });
  }

  /** Wakes consumers if a group or the queue has a limit that may allow more now. @returns true if this queue has such a limit */
  #wakeForPermits(): boolean {
    const { groups, globalConcurrency } = this.#queue.limits;
    // The queue's other messages come first, so that both kinds alternate.
    if (globalConcurrency && this.#others) this.#others.#wakeForReady();
    if (groups || globalConcurrency) this.#wakeForReady();
    return Boolean(groups ?? globalConcurrency);
  }

  /** Wakes a consumer, unless the queue is paused or the consumer would claim nothing. @returns true if there was something to claim */
  #wakeForReady(): boolean {
    const isWorthIt = !this.#queue.paused && this.#queue.room > 0 && this.#queue.claimable(1).length > 0;
    if (isWorthIt) this.#wakeSignals.wake();
    return isWorthIt;
  }
}

/** Copies the body, so that no handler can change what the next attempt reads. */
function copyOf({ id, body, failedAttempts, dueAt, offeredAt }: MemoryMessage) {
  return { id, body: Buffer.from(body), failedAttempts, dueAt, offeredAt };
}

function snapshotOf(message: MemoryMessage): StoredMessage {
  const { state, rank, error } = message;
  const leasedUntil = state === 'active' ? rank : null;
  const death = state === 'dead' ? { at: rank, error } : null;
  const delay = state === 'delayed' && { dueAt: Math.floor(rank), ...(rank % 1 > 0 && { rank }) };
  return { ...copyOf(message), state, leasedUntil, death, ...delay };
}
