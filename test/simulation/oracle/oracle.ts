import type { DelayedMessage } from '../../../lib/index.js';
import type {
  Claim,
  ClaimedTransfer,
  ClaimReport,
  ClaimRequest,
  Handling as HandledOne,
  Settlement,
  SettleReport,
  TransferReport,
} from '../../../lib/store/consumer-store.js';
import type { Change, DueTime, Offer, OfferReceipt, RepeatPause } from '../../../lib/store/producer-store.js';
import type { DeadSelection, GroupSettings } from '../../../lib/store/admin-store.js';
import type { HandlerRun } from '../applications/application.js';
import { type Conduct, LONG } from '../applications/conduct.js';
import type { QueueTraits, Release, Scenario } from '../applications/scenario.js';
import { type Effect, MAX_LINGERING } from '../network/remote-store.js';
import type { SetLimits } from '../../../lib/limits/set-limits.js';
import type { SimulatedServer } from '../network/server.js';
import type { SimulatedProcess } from '../world/simulated-process.js';
import type { World } from '../world/world.js';
import type { Journal } from './journal.js';
import { Checkpoint } from './checkpoint.js';
import { ConsumerCalls } from './consumer-calls.js';
import { type Call, Delivery } from './delivery.js';
import type { GroupUse } from './group-use.js';
import { Handling } from './handling.js';
import { Ledger } from './ledger.js';
import type { Life } from './life.js';
import { KeptIdsUse } from './kept-ids-use.js';
import type { LimitsUse } from './limits-use.js';
import { ALL_CONCERNS, type Concern, Member } from './member.js';
import { ProducerCalls } from './producer-calls.js';
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

export interface Violation {
  readonly promise: string;
  readonly at: number;
  readonly id: string;
  readonly detail: string;
}

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
  /** Those that are there. */
  readonly members = new Set<Member>();
  readonly #memberOf = new WeakMap<SimulatedProcess, Member>();
  /** Since when and until when handlers have kept the event loop of each process busy, ms of the world. */
  readonly #busy = new WeakMap<SimulatedProcess, { readonly since: number; readonly until: number }>();
  readonly #ledger: Ledger;
  readonly #punctuality: Punctuality;
  readonly #handling: Handling;
  readonly #rate: RateUse;
  readonly #keptIds: KeptIdsUse;
  readonly #producers: ProducerCalls;
  readonly #consumers: ConsumerCalls;

  constructor(private readonly options: OracleOptions) {
    const { world, server, scenario, journal } = options;
    const violate = (promise: string, id: string, detail: string) => this.violate(promise, id, detail);
    const ledger = (this.#ledger = new Ledger(world, server, scenario));
    const punctuality = (this.#punctuality = new Punctuality(server, scenario));
    const rate = (this.#rate = new RateUse(scenario.rate));
    const keptIds = (this.#keptIds = new KeptIdsUse({ scenario, time: () => server.time, violate }));
    const hasStepped = () => punctuality.hasStepped(this.#now);
    const repeats = new RepeatUse({ time: () => server.time, hasStepped, violate });
    const handling = (this.#handling = new Handling({ world, server, scenario, punctuality, repeats, violate }));
    this.#producers = new ProducerCalls({ world, server, journal, ledger, keptIds, violate });
    const { members } = this;
    const judges = { punctuality, handling, rateOfQueue: rate, repeats, keptIds, violate };
    this.#consumers = new ConsumerCalls({ world, server, scenario, journal, ledger, members, ...judges });
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
        return this.#producers.offered(queue, first as Offer[], result as OfferReceipt[]);
      case 'cancel':
        if (result) this.#producers.cancelled(queue, first as string);
        return undefined;
      case 'reschedule':
        if (result) this.#producers.moved(first as string, second as DueTime);
        return undefined;
      case 'change':
        if (result === 'changed') this.#producers.changed(first as string, second as Change);
        return undefined;
      case 'claim':
        return this.#consumers.claimed(member, queue, { ...(first as ClaimRequest), sentAt }, result as ClaimReport);
      case 'transferAndClaim':
        if (!result) return undefined;
        this.#noteMover(member, queue, (result as ClaimedTransfer).report);
        return this.#consumers.claimed(
          member,
          queue,
          { ...(first as ClaimRequest), sentAt },
          (result as ClaimedTransfer).claimed,
        );
      case 'transfer':
        this.#noteMover(member, queue, result as TransferReport);
        return this.#consumers.transferred(queue, result as TransferReport);
      case 'extend':
        return this.#consumers.extended(queue, first as Claim[], result as Claim[], {
          lease: second as number,
          sentAt,
        });
      case 'remember':
        return this.#consumers.remembered(first as HandledOne[]);
      case 'freeId':
        if (result) this.#ledger.count('ids freed');
        return this.#keptIds.freed(queue, first as string, result as boolean);
      case 'settle':
        return this.#consumers.settled(member, queue, first as Settlement[], result as SettleReport);
      case 'abort':
        if (result) this.#producers.aborted(first as string);
        return undefined;
      case 'redrive':
        return this.#producers.redriven(queue, first as DeadSelection);
      case 'discard':
        return this.#producers.discarded(queue, first as DeadSelection);
      case 'clear':
        return this.#producers.cleared(queue);
      case 'pauseRepeat':
        if (result === 'changed') this.#producers.rulePaused(queue, first as string, second as RepeatPause);
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
}

/** True if the process takes itself for the last that has moved something: messages whose leases have ended count, too. */
const hasMoved = ({ moved, recovered, deadLettered }: TransferReport) => moved + recovered + deadLettered.length > 0;
