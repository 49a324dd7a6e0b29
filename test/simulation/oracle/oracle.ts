import type { DelayedMessage } from '../../../lib/index.js';
import { instantOf } from '../../../lib/store/memory/memory-queue.js';
import type {
  Claim,
  ClaimedTransfer,
  ClaimReport,
  ClaimRequest,
  Handling as HandledOne,
  Outcome,
  Settlement,
  SettleReport,
  TransferReport,
} from '../../../lib/store/consumer-store.js';
import type { Change, DueTime, Offer, OfferReceipt, RepeatPause } from '../../../lib/store/producer-store.js';
import type { DeadSelection, GroupSettings } from '../../../lib/store/admin-store.js';
import type { HandlerRun } from '../applications/application.js';
import { type Conduct, LONG } from '../applications/conduct.js';
import { type QueueTraits, type Release, type Scenario, WITH_HISTORY } from '../applications/scenario.js';
import { type Effect, MAX_LINGERING } from '../network/remote-store.js';
import type { SetLimits } from '../../../lib/limits/set-limits.js';
import type { SimulatedServer } from '../network/server.js';
import type { SimulatedProcess } from '../world/simulated-process.js';
import type { World } from '../world/world.js';
import type { Journal } from './journal.js';
import { Checkpoint } from './checkpoint.js';
import { type Call, Delivery } from './delivery.js';
import type { GroupUse } from './group-use.js';
import { Handling } from './handling.js';
import { Ledger } from './ledger.js';
import { Life, numberOf } from './life.js';
import { KeptIdsUse } from './kept-ids-use.js';
import type { LimitsUse } from './limits-use.js';
import { ALL_CONCERNS, type Concern, Member } from './member.js';
import { Punctuality } from './punctuality.js';
import type { QueueUse } from './queue-use.js';
import { RateUse } from './rate-use.js';
import { RepeatUse } from './repeat-use.js';

export interface OracleOptions {
  readonly world: World;
  readonly server: SimulatedServer;
  readonly scenario: Scenario;
  readonly journal: Journal;
  /** Decides what a handler does with a message that it has started so many times before. */
  readonly conductOf: (message: number, starts: number) => Conduct;
}

type SentClaim = ClaimRequest & Pick<Effect, 'sentAt'>;

export interface Violation {
  readonly promise: string;
  readonly at: number;
  readonly id: string;
  readonly detail: string;
}

/** A process that is well for this share of a lease extends it, if not at the first attempt. */
const EXTENSION_TIME = 0.42;

/** How offers are counted by their outcomes. */
const OFFERED: Readonly<Record<string, string>> = {
  created: 'offer created',
  replaced: 'offer replaced',
  kept: 'offer kept',
  rejected: 'offer rejected',
  followed: 'offer followed',
  handled: 'offer ignored',
};

/** What is known of a trouble. */
export interface TroubleTraits {
  /** Default: all. */
  readonly concerns?: readonly Concern[];
  /** True if the process has certainly recovered at its end. Default: its end is an estimate. */
  readonly isExact?: boolean;
  /** The queue that it concerns alone. Default: it concerns all. */
  readonly queue?: string | undefined;
}

/** How long handlers keep the event loop busy together until it matters, and the time that a process takes to catch up, ms. */
const MIN_SPIN = 5;
const AFTER_SPIN = 50;

/** What it concerns if they do so for a small share of a lease: leases are extended long before they end. */
const MAX_SHORT_SPIN = 0.05;
const OF_SPINS: readonly Concern[] = ['claims', 'announcements'];

/** Judges everything while it happens, by what the server has done. */
export class Oracle {
  readonly violations: Violation[] = [];
  /** The ids of messages whose history has an entry, and that have not been settled since. */
  readonly #remembered = new Set<string>();
  /** Those that are there. */
  readonly members = new Set<Member>();
  readonly #memberOf = new WeakMap<SimulatedProcess, Member>();
  /** Since when and until when handlers have kept the event loop of each process busy, ms of the world. */
  readonly #busy = new WeakMap<SimulatedProcess, { readonly since: number; readonly until: number }>();
  readonly #ledger: Ledger;
  readonly #punctuality: Punctuality;
  readonly #handling: Handling;
  readonly #rate: RateUse;
  readonly #repeats: RepeatUse;
  readonly #keptIds: KeptIdsUse;

  constructor(private readonly options: OracleOptions) {
    const { world, server, scenario } = options;
    this.#ledger = new Ledger(world, server, scenario);
    this.#punctuality = new Punctuality(server, scenario);
    const violate = (promise: string, id: string, detail: string) => this.violate(promise, id, detail);
    const hasStepped = () => this.#punctuality.hasStepped(this.#now);
    this.#repeats = new RepeatUse({ time: () => server.time, hasStepped, violate });
    const judges = { punctuality: this.#punctuality, repeats: this.#repeats };
    this.#handling = new Handling({ world, server, scenario, ...judges, violate });
    this.#rate = new RateUse(scenario.rate);
    this.#keptIds = new KeptIdsUse({ scenario, time: () => server.time, violate });
  }

  join(process: SimulatedProcess, release: Release): Member {
    const member = new Member(process, release);
    this.members.add(member);
    this.#memberOf.set(process, member);
    return member;
  }

  /** A process stops: it claims nothing more, and if it fired first, the others have to notice that it does not. */
  stop(member: Member): void {
    member.isStopping = true;
    this.troubled(member.process, this.#now);
    this.#punctuality.left(member.process, this.#now, 0);
  }

  /** A process is gone. What it leaves behind takes the others a while, and its connections may take wake-up signals. */
  leave(member: Member): void {
    this.#punctuality.left(member.process, this.#now, MAX_LINGERING);
    this.members.delete(member);
  }

  /**
   * Something is wrong with a process until then.
   */
  troubled(
    process: SimulatedProcess,
    until: number,
    { concerns = ALL_CONCERNS, isExact = false, queue }: TroubleTraits = {},
  ): void {
    this.#memberOf.get(process)!.troubledUntil(until, concerns, queue);
    if (concerns.includes('claims')) this.#punctuality.troubled(process, until, isExact);
  }

  /** A queue is registered: from now on, whoever looks for the queues of its family finds it. */
  registered(queue: string): void {
    this.#punctuality.registered(queue, this.#now);
  }

  /** Other limits of a queue are in force. @param set - undefined: those of the options */
  limited(queue: string, set: SetLimits | undefined): void {
    this.#ledger.limitsOf(queue).change(set, this.#now);
    this.#ledger.count(set ? 'limits set' : 'limits reset');
  }

  /** All processes are told of the limits of a queue. */
  limitsAnnounced(queue: string): void {
    this.#ledger.limitsOf(queue).announced(this.#now);
  }

  /** What is in force. */
  limitsOf(queue: string): Pick<LimitsUse, 'current' | 'areSet'> {
    return this.#ledger.limitsOf(queue);
  }

  /** Somebody makes false announcements until then. */
  misled(until: number): void {
    this.#punctuality.misled(until);
  }

  /** Somebody has set the clock of the server. Leases end by it. */
  stepped(by: number): void {
    this.#punctuality.stepped(this.#now, by);
    for (const life of this.#ledger.lives.values()) {
      if (life.due <= this.options.server.time - by) life.dueBeforeStep = life.due;
      life.debouncedSince -= by;
      if (!life.holder) continue;
      life.holder.leaseEnd -= by;
      life.holder.isLeaseUnsure = true;
    }
  }

  /** What happens from now on, the server is going to forget. @returns to be called when it has */
  beforeLoss(): (until: number) => void {
    const checkpoint = new Checkpoint(this.#ledger);
    const { claims } = this.#rate;
    const restoreKeptIds = this.#keptIds.save();
    return (until) => {
      restoreKeptIds();
      checkpoint.restore(this.#ledger, this.#now);
      this.#rate.claims = claims;
      this.#punctuality.misled(until);
    };
  }

  /** The queues that are paused, or of which a part is. */
  get paused(): QueueTraits[] {
    return [...this.#ledger.queues()].flatMap(({ traits, isPaused }) => (isPaused ? [traits] : []));
  }

  get counts(): Readonly<Record<string, number>> {
    return this.#ledger.counts;
  }

  /** The groups of a queue that have had messages. */
  groupsOf(queue: string): GroupUse[] {
    return this.#ledger.groupsOf(queue);
  }

  /** How many messages of a queue the processes that are there may hold at once. */
  capacityOf(traits: QueueTraits): number {
    return [...this.members].reduce((sum, member) => sum + member.holdingOf(traits).capacity, 0);
  }

  get inQueues(): number {
    return this.#ledger.inQueues;
  }

  /** True if queues are empty and slots are free: a handler whose message has been aborted or replaced may go on for a while. */
  get isIdle(): boolean {
    return this.inQueues === 0 && [...this.members].every(({ hasRunningHandlers }) => !hasRunningHandlers);
  }

  /** The groups of all queues that have settings of their own. */
  get changedGroups(): { readonly traits: QueueTraits; readonly name: string }[] {
    return [...this.#ledger.queues()].flatMap(({ traits, groups }) =>
      [...groups.values()].flatMap(({ name, hasSettings }) => (hasSettings ? [{ traits, name }] : [])),
    );
  }

  /** True if a queue or a part of it is paused. */
  isPaused(name: string): boolean {
    return [...this.#ledger.queues()].some(({ traits, isPaused }) => isPaused && traits.name === name);
  }

  /** True if a message of this id is, or was a while ago, in a queue. */
  knows(id: string): boolean {
    return this.#ledger.lives.has(id);
  }

  life(id: string): Life | undefined {
    return this.#ledger.lives.get(id);
  }

  /** True if it waits for its due time, and nobody has claimed it before. */
  isDelayed({ end, wasClaimed, due, dueBeforeStep }: Life): boolean {
    return end === undefined && !wasClaimed && due > this.options.server.time && due !== dueBeforeStep;
  }

  /** A call of a process has taken effect at the server. */
  effect(member: Member, { queue: name, store, call, args, result, sentAt }: Effect): void {
    const [first, second] = args;
    const { write } = this.options.journal;
    if (write) {
      write(`${member.process.name} ${call} of ${name}`);
      if (typeof first === 'string') write(`${first} ${call}: ${String(result)}`);
    }
    const queue = this.#ledger.queueOf(store, name);
    switch (call) {
      case 'offer':
        return this.#offered(queue, first as Offer[], result as OfferReceipt[]);
      case 'cancel':
        if (result) this.#cancelled(queue, first as string);
        return undefined;
      case 'reschedule':
        if (result) this.#moved(first as string, second as DueTime);
        return undefined;
      case 'change':
        if (result === 'changed') this.#changed(first as string, second as Change);
        return undefined;
      case 'claim':
        return this.#claimed(member, queue, { ...(first as ClaimRequest), sentAt }, result as ClaimReport);
      case 'transferAndClaim':
        if (!result) return undefined;
        this.#noteMover(member, queue, (result as ClaimedTransfer).report);
        return this.#claimed(
          member,
          queue,
          { ...(first as ClaimRequest), sentAt },
          (result as ClaimedTransfer).claimed,
        );
      case 'transfer':
        this.#noteMover(member, queue, result as TransferReport);
        return this.#transferred(queue, result as TransferReport);
      case 'extend':
        return this.#extended(queue, first as Claim[], result as Claim[], { lease: second as number, sentAt });
      case 'remember':
        for (const { keptAs } of first as HandledOne[]) this.#remembered.add(keptAs);
        return undefined;
      case 'freeId':
        if (result) this.#ledger.count('ids freed');
        return this.#keptIds.freed(queue, first as string, result as boolean);
      case 'settle':
        return this.#settled(member, queue, first as Settlement[], result as SettleReport);
      case 'abort':
        if (result) this.#aborted(first as string);
        return undefined;
      case 'redrive':
        return this.#redriven(queue, first as DeadSelection);
      case 'discard':
        return this.#discarded(queue, first as DeadSelection);
      case 'clear':
        return this.#cleared(queue);
      case 'pauseRepeat':
        if (result === 'changed') this.#rulePaused(queue, first as string, second as RepeatPause);
        return undefined;
      case 'setGroup':
        queue.groupOf(first as string)!.set(second as GroupSettings, this.#now);
        this.#ledger.count((second as GroupSettings).paused ? 'groups paused' : 'groups changed');
        return undefined;
      case 'pause':
        queue.isPaused = true;
        return undefined;
      case 'resume':
        if (queue.isPaused) queue.resumedAt = this.#now;
        queue.isPaused = false;
        return undefined;
      default:
        return undefined;
    }
  }

  /** A process gets the answer of a transfer. */
  answered({ queue, store }: Pick<Effect, 'queue' | 'store'>, report: TransferReport): void {
    if (hasMoved(report)) this.#ledger.queueOf(store, queue).answered(report);
  }

  #noteMover(member: Member, queue: QueueUse, report: TransferReport): void {
    if (hasMoved(report)) queue.transferred(member, report, this.#now);
    if (member.isStopping || member.process.isDead) this.#punctuality.movedLate(queue, this.#now);
  }

  /** A handler is called. @returns what it does with each message */
  called(messages: readonly DelayedMessage[], member: Member): HandlerRun[] {
    const call: Call = { deliveries: [], running: 0, endedAt: Infinity };
    const runs = messages.map((message) => this.#started(message, member, call));
    const [first] = call.deliveries;
    if (first) first.holding.calls++;
    return runs;
  }

  #started(message: DelayedMessage, member: Member, call: Call): HandlerRun {
    const { conductOf, journal } = this.options;
    const { process } = member;
    const { id, attempt } = message;
    const life = this.#ledger.lives.get(id);
    this.#ledger.count('started');
    journal.write?.(`${id} starts, attempt ${attempt}`);
    if (!life) {
      this.violate('known', id, 'a handler starts with a message that ended long ago');
      return { conduct: conductOf(0, 0), spun: () => this.#spun(process), ended: () => undefined };
    }
    journal.digestOf(1, life.number);
    const { group, queue } = life;
    const { traits } = queue;
    const holding = member.holdingOf(traits);
    const delivery = holding.waiting(life, message.dueAt.getTime(), attempt);
    this.#handling.judgeStart(life, delivery, message);
    const conduct = conductOf(life.number, life.starts);
    life.starts++;
    if (delivery) {
      this.#handling.judgeWaitForOthers(delivery, this.#now);
      delivery.run = { call, end: conduct.end, isOver: false };
      call.deliveries.push(delivery);
      call.running++;
      group?.running.add(delivery);
      if (++holding.running > holding.capacity) {
        this.violate('concurrency', id, `starts beside ${holding.running - 1} others in ${process.name}`);
      }
    }
    const signal = conduct.takes > LONG ? message.signal : undefined;
    return {
      conduct,
      spun: () => this.#spun(process),
      ended: () => {
        if (delivery) this.#ended(delivery, signal);
        journal.write?.(`${id} ends: ${conduct.end}`);
      },
    };
  }

  /** A handler has kept the event loop busy, perhaps right after others: what waits for its turn meanwhile comes late. */
  #spun(process: SimulatedProcess): void {
    const { world, scenario } = this.options;
    const { busyUntil } = process;
    const last = this.#busy.get(process);
    const since = last && world.now - last.until < MIN_SPIN ? last.since : world.now;
    this.#busy.set(process, { since, until: busyUntil });
    const spun = busyUntil - since;
    if (spun <= MIN_SPIN) return;
    const concerns = spun > MAX_SHORT_SPIN * scenario.lease ? ALL_CONCERNS : OF_SPINS;
    this.troubled(process, busyUntil + AFTER_SPIN, { concerns, isExact: true });
  }

  #ended(delivery: Delivery, signal: AbortSignal | undefined): void {
    const { now } = this.options.world;
    const { holding, life } = delivery;
    const run = delivery.run!;
    const { call } = run;
    run.isOver = true;
    if (signal) this.#handling.judgeSignal(delivery, signal);
    holding.running--;
    life.group?.running.delete(delivery);
    if (--call.running > 0) return;
    call.endedAt = now;
    if (holding.calls-- >= holding.concurrency) holding.fullAt = now;
    // The slot of a batch is taken until all of it is done.
    for (const each of call.deliveries) if (each.loss) each.letGo(now);
  }

  /** Judges what is held now. */
  judgeHeld(): void {
    for (const { held } of this.#ledger.queues()) {
      for (const { holder } of held) this.#handling.judgeHeld(holder!);
    }
  }

  /** Forgets what has ended long ago. */
  forget(): void {
    this.#ledger.forget();
  }

  /** At the end, nothing is left over. */
  finish(): void {
    for (const life of this.#ledger.lives.values()) {
      if (life.end) continue;
      const { holder, due } = life;
      const where = holder ? `held by ${holder.member.process.name}` : `due ${this.options.server.time - due} ms ago`;
      this.violate('none lost', life.id, `left over in ${life.queue.traits.name}, ${where}`);
    }
  }

  violate(promise: string, id: string, detail: string): void {
    const { world, journal } = this.options;
    this.violations.push({ promise, at: world.now, id, detail });
    journal.write?.(`${id} VIOLATES ${promise}: ${detail}`);
  }

  get #now(): number {
    return this.options.world.now;
  }

  #offered(queue: QueueUse, offers: readonly Offer[], receipts: readonly OfferReceipt[]): void {
    const { journal, server } = this.options;
    const ledger = this.#ledger;
    for (let i = 0; i < offers.length; i++) {
      const { outcome, dueAt } = receipts[i]!;
      const { id, due, group, maxWait, onDuplicate, body } = offers[i]!;
      ledger.count(OFFERED[outcome] ?? outcome);
      this.#keptIds.offered(queue, id, receipts[i]!);
      journal.digestOf(2, numberOf(id));
      journal.write?.(`${id} offered to ${queue.traits.name}: ${outcome}, due ${server.worldTimeOf(dueAt)}`);
      const known = ledger.lives.get(id);
      if (outcome === 'followed') known!.follower = due;
      // One that is due takes the rule over and stays.
      if (outcome === 'followed' || (outcome === 'kept' && onDuplicate === 'repeat'))
        Object.assign(known!, { repeats: onDuplicate === 'repeat', body: undefined, occurrencesOver: undefined });
      if (outcome !== 'created' && outcome !== 'replaced') continue;
      const life = new Life(id, queue, queue.groupOf(group), { due: dueAt, freeSince: this.#now });
      life.body = body;
      life.repeats = onDuplicate === 'repeat';
      // A new rule does not resume it.
      life.isRulePaused = life.repeats && known !== undefined && !known.end && known.isRulePaused;
      if (life.isRulePaused) life.body = undefined;
      if (maxWait !== undefined && known) this.#judgeWait(life, known, maxWait);
      ledger.add(life, known);
    }
  }

  /** A message that is offered again and again waits no longer than its offers say. */
  #judgeWait(life: Life, known: Life, maxWait: number): void {
    if (!this.isDelayed(known)) return;
    life.debouncedSince = known.debouncedSince;
    const late = this.options.server.worldTimeOf(life.due) - life.debouncedSince - maxWait;
    if (late > 1) this.violate('waits no longer', life.id, `due ${late} ms after the end of its wait`);
  }

  #cancelled({ store }: QueueUse, id: string): void {
    const life = this.#ledger.lives.get(id)!;
    // It may be the follower alone that was removed.
    void store.find(id).then((found) => {
      if (found) {
        Object.assign(life, { follower: undefined, repeats: false, isRulePaused: false, body: undefined });
      } else this.#ledger.end(life, 'cancelled');
    });
  }

  /** One that waits for its next occurrence is moved. */
  #rulePaused({ store }: QueueUse, id: string, { resume }: RepeatPause): void {
    const life = this.#ledger.lives.get(id)!;
    life.isRulePaused = !resume;
    life.body = undefined;
    this.#ledger.count(resume ? 'rules resumed' : 'rules paused');
    void store.find(id).then((found) => {
      if (found?.state === 'delayed' && found.dueAt !== life.due) this.#moved(id, { at: found.dueAt });
    });
  }

  #changed(id: string, { from, to, due }: Change): void {
    const life = this.#ledger.lives.get(id)!;
    if (life.body !== undefined && !Buffer.from(life.body).equals(Buffer.from(from))) {
      this.violate('changes', id, 'a change overwrites another one that it has not seen');
    }
    life.body = to;
    this.#moved(id, due);
  }

  #moved(id: string, due: DueTime): void {
    const life = this.#ledger.lives.get(id)!;
    const { server, journal } = this.options;
    life.due = instantOf(due, server.time);
    life.freeSince = this.#now;
    life.inBacklogSince = this.#now;
    if (!life.wasClaimed) life.firstDue = life.due;
    journal.write?.(`${id} moved, due ${server.worldTimeOf(life.due)}`);
  }

  #claimed(member: Member, queue: QueueUse, request: SentClaim, { messages, more }: ClaimReport): void {
    const { token, supersedes, lease, sentAt } = request;
    const { journal } = this.options;
    const { lives } = this.#ledger;
    const again = supersedes === undefined ? undefined : this.#claimedAgain(queue, supersedes);
    const holding = member.holdingOf(queue.traits);
    for (const message of messages) {
      const { id } = message;
      const life = lives.get(id);
      if (!life) {
        this.violate('known', id, `claimed by ${member.process.name} after its end`);
        continue;
      }
      journal.digestOf(3, life.number);
      journal.write?.(`${id} claimed, token ${token}${supersedes === undefined ? '' : ` instead of ${supersedes}`}`);
      this.#judgeClaim(life, member, sentAt, again?.has(life) ?? false);
      life.wasClaimed = true;
      const times = { claimedAt: this.#now, leaseEnd: this.#now + lease, assumedEnd: sentAt + lease };
      life.holder = new Delivery(token, life, holding, times);
      queue.held.add(life);
      if (queue.traits.kind === 'repeats') this.#repeats.claimed(life, life.holder, message);
    }
    // It has put off messages for the rate of their groups, and so has taken fewer than it could.
    if (more && queue.traits.groupRate) holding.claimsAgain(this.#now);
    // What there was no room for, others may claim from now on.
    for (const life of again ?? []) if (!life.holder) life.free(this.#now);
  }

  /** Returns the messages that the consumer already holds, although no answer has reported them. */
  #claimedAgain({ held }: QueueUse, token: string): Set<Life> {
    const again = new Set<Life>();
    for (const life of held) {
      const { token: heldBy, claimedAt } = life.holder!;
      if (heldBy !== token) continue;
      // Until then, it may have waited for the permit that it has now.
      life.freeSince = Math.max(life.freeSince, claimedAt);
      this.#ledger.lose(life, 'claimed again');
      again.add(life);
      life.group?.waiting.add(life);
    }
    return again;
  }

  #judgeClaim(life: Life, member: Member, sentAt: number, isAgain: boolean): void {
    const { id, queue, group } = life;
    // Nobody else could have claimed what it held already.
    const late = this.#punctuality.judge(life, isAgain ? [member] : [...this.members], this.#now);
    if (late !== undefined) this.violate('on time', id, late);
    // Messages that are claimed again were counted before.
    this.#judgeLimits(life, member, sentAt, isAgain);
    if (queue.isPaused && !isAgain) this.violate('paused', id, `claimed though ${queue.traits.name} is paused`);
    if (!group) return;
    if (group.isPaused && !isAgain) this.violate('paused', id, `claimed though group ${group.name} is paused`);
    group.waiting.delete(life);
    if (life.hasPermit) return;
    // Who has kept its permit while it waited for its retry goes first.
    const overtaken = this.#punctuality.hasStepped(this.#now)
      ? undefined
      : group.overtakenBy(life, this.options.server);
    if (overtaken) this.violate('order', id, `is claimed before ${overtaken.id}, of the same group`);
    life.hasPermit = true;
    group.used++; // A message that waits for the rate keeps its permit when there are fewer.
    if (group.used > (group.rate ? group.mostPermits : group.permits))
      this.violate('permits', id, `the ${group.used}th of group ${group.name} is claimed`);
  }

  /** Whether a claim keeps to the largest limits that its process may have known. */
  #judgeLimits({ id, queue, group }: Life, member: Member, sentAt: number, isAgain: boolean): void {
    const { kind } = queue.traits;
    // A claim that no longer counted when the clock was set back is forgotten by the store, but not here.
    const isSure = !this.#punctuality.hasStepped(this.#now);
    if (!isAgain && group?.rate?.take(this.options.server.time) === false && isSure)
      this.violate('rate', id, `is claimed beyond the rate of group ${group.name}`);
    if (kind !== 'rated' && kind !== 'limited') return;
    const { globalConcurrency, rate } = queue.limits.largestFor(member, sentAt);
    if (kind === 'rated' && !isAgain && !this.#rate.take(this.options.server.time, rate) && isSure)
      this.violate('rate', id, `is claimed beyond the rate of ${rate}`);
    if (!isAgain && queue.held.size >= globalConcurrency)
      this.violate('global concurrency', id, `is claimed beside ${queue.held.size} others, of ${globalConcurrency}`);
  }

  #transferred({ held }: QueueUse, { recovered, deadLettered }: TransferReport): void {
    if (recovered + deadLettered.length === 0) return;
    const { world, journal, server } = this.options;
    const { now } = world;
    for (const life of held) {
      const delivery = life.holder!;
      const { member, token, leaseEnd } = delivery;
      if (Math.ceil(leaseEnd + server.time - now) > Math.floor(server.time)) continue;
      this.#ledger.count('leases ended');
      journal.write?.(`${life.id} lease of ${token} has ended`);
      if (!this.#isExcused(delivery)) {
        this.violate('lease kept', life.id, `${member.process.name} lost it without a cause`);
      }
      this.#ledger.lose(life, 'lease ended');
      life.failedAttempts++;
      life.free(now);
      life.inBacklogSince = now;
      const isDead = deadLettered.includes(life.id);
      this.#handling.judgeTakenBack(life, isDead);
      if (isDead) this.#ledger.endOrFollow(life, 'dead');
    }
  }

  /** True if its process may have failed to extend it in time: it was not well for long enough since the lease began. */
  #isExcused({ member, leaseEnd, assumedEnd, isLeaseUnsure, life }: Delivery): boolean {
    const { lease } = this.options.scenario;
    if (isLeaseUnsure) return true;
    const well = member.longestUnhindered('leases', life.queue.traits.name, leaseEnd - lease, assumedEnd);
    return well < EXTENSION_TIME * lease;
  }

  /** True if its process may not hear in time that it has extended it. */
  #mayMissExtension({ member, assumedEnd, life }: Delivery): boolean {
    const { process, isStopping } = member;
    const latest = assumedEnd - EXTENSION_TIME * this.options.scenario.lease;
    return process.isDead || isStopping || member.unhinderedFrom('leases', life.queue.traits.name) > latest;
  }

  #extended(
    { held }: QueueUse,
    claims: readonly Claim[],
    lost: readonly Claim[],
    { lease, sentAt }: Pick<SentClaim, 'lease' | 'sentAt'>,
  ): void {
    const tokens = new Set(claims.map(({ token }) => token));
    for (const life of held) {
      const delivery = life.holder!;
      const { token, run } = delivery;
      if (!tokens.has(token)) continue;
      // A process may hold an earlier, replaced claim of the same message, too.
      const isSame = (claim: Claim) => claim.id === life.id && claim.token === token;
      if (!claims.some(isSame)) {
        if (run && !run.isOver) this.violate('held', life.id, 'released by an extension while its handler runs');
        this.#ledger.lose(life, 'released');
        life.free(this.#now);
      } else if (!lost.some(isSame)) {
        delivery.isLeaseUnsure ||= this.#mayMissExtension(delivery);
        delivery.leaseEnd = this.#now + lease;
        delivery.assumedEnd = sentAt + lease;
      }
    }
  }

  #settled(member: Member, queue: QueueUse, settlements: readonly Settlement[], report: SettleReport): void {
    const { journal } = this.options;
    const { traits } = queue;
    const { accepted } = report;
    this.#keptIds.settled(queue, settlements, report, (id) => Boolean(this.#ledger.lives.get(id)?.follower));
    const holding = member.holdingOf(traits);
    for (let i = 0; i < settlements.length; i++) {
      const { claim, outcome } = settlements[i]!;
      const { id, token } = claim;
      const life = this.#ledger.lives.get(id);
      if (!life) continue;
      const delivery = holding.find(life, token);
      delivery?.letGo(this.#now);
      journal.digestOf(4, life.number);
      journal.write?.(`${id} settled: ${outcome.kind}, ${accepted[i] ? 'accepted' : 'refused'}, token ${token}`);
      if (accepted[i] && WITH_HISTORY.includes(traits.kind)) this.#judgeHistory(life, delivery, outcome);
      if (accepted[i]) this.#settledOne(life, delivery, outcome);
    }
  }

  /** A message that was handled, and not aborted meanwhile, is gone only once the queue remembers it. */
  #judgeHistory({ id }: Life, delivery: Delivery | undefined, outcome: Outcome): void {
    const isHandled = outcome.kind === 'ack' && outcome.lateBy === undefined;
    if (isHandled && !this.#remembered.delete(id) && !delivery?.mayCountAsAborted)
      this.violate('remembered', id, 'gone without an entry in the history');
  }

  #settledOne(life: Life, delivery: Delivery | undefined, outcome: Outcome): void {
    const { server } = this.options;
    const ledger = this.#ledger;
    ledger.count(outcome.kind);
    this.#handling.judgeOutcome(life, delivery, outcome);
    ledger.lose(life, 'settled');
    // The store adds a pause to the body of a message that repeats.
    if ('body' in outcome && outcome.body !== undefined) life.body = delivery?.rule ? undefined : outcome.body;
    if (outcome.kind === 'retry' || outcome.kind === 'dead') life.failedAttempts++;
    if (outcome.kind === 'release') {
      // It keeps its place.
      life.free(this.#now);
      return;
    }
    if (outcome.kind === 'ack' || outcome.kind === 'dead') {
      const next = this.#repeats.ended(life, delivery, outcome);
      if (next !== undefined && life.repeats && !life.follower) {
        ledger.count('occurrences');
        return life.renew(next, this.#now);
      }
      const isExpired = 'lateBy' in outcome && outcome.lateBy !== undefined;
      return ledger.endOrFollow(life, outcome.kind === 'dead' ? 'dead' : isExpired ? 'expired' : 'handled');
    }
    if (outcome.kind !== 'retry' || !life.queue.traits.holds) ledger.releasePermit(life);
    const due = 'at' in outcome ? outcome.at : Math.ceil(server.time + outcome.delay);
    if (outcome.kind === 'again') return life.renew(due, this.#now);
    life.due = due;
    life.free(this.#now);
    life.inBacklogSince = this.#now;
  }

  #aborted(id: string): void {
    const life = this.#ledger.lives.get(id)!;
    this.#ledger.lose(life, 'aborted');
    this.#ledger.endOrFollow(life, 'aborted');
  }

  #redriven(queue: QueueUse, selection: DeadSelection): void {
    for (const life of this.#selected(queue, selection)) {
      void queue.store.find(life.id).then((found) => {
        if (!found) return this.#ledger.discard(life);
        if (found.state !== 'dead' && life.end === 'dead') this.#ledger.redrive(life, found.dueAt);
      });
    }
  }

  #discarded(queue: QueueUse, selection: DeadSelection): void {
    for (const life of this.#selected(queue, selection)) {
      void queue.store.find(life.id).then((found) => {
        if (!found) this.#ledger.discard(life);
      });
    }
  }

  /** The dead letters that a call may have been about. */
  #selected(queue: QueueUse, selection: DeadSelection): Life[] {
    const { lives } = this.#ledger;
    const all = 'id' in selection ? [lives.get(selection.id)] : [...lives.values()];
    return all.filter((life): life is Life => life?.end === 'dead' && life.queue === queue);
  }

  #cleared(queue: QueueUse): void {
    for (const life of this.#ledger.lives.values()) {
      if (life.queue !== queue) continue;
      if (life.end) {
        this.#ledger.discard(life);
        continue;
      }
      this.#ledger.lose(life, 'cleared');
      this.#ledger.end(life, 'cleared');
    }
  }
}

/** True if the process takes itself for the last that has moved something: messages whose leases have ended count, too. */
const hasMoved = ({ moved, recovered, deadLettered }: TransferReport) => moved + recovered + deadLettered.length > 0;
