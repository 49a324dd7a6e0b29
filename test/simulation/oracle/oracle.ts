import type { DelayedMessage } from '../../../lib/index.js';
import { instantOf } from '../../../lib/store/memory/memory-queue.js';
import type {
  Claim,
  ClaimedTransfer,
  ClaimReport,
  ClaimRequest,
  Outcome,
  Settlement,
  SettleReport,
  TransferReport,
} from '../../../lib/store/consumer-store.js';
import type { Change, DueTime, Offer, OfferReceipt } from '../../../lib/store/producer-store.js';
import type { MessageStore } from '../../../lib/store/message-store.js';
import type { DeadSelection } from '../../../lib/store/admin-store.js';
import { type Conduct, LONG } from '../applications/conduct.js';
import type { QueueTraits, Scenario } from '../applications/scenario.js';
import { LONGEST_LINGERING } from '../network/remote-store.js';
import type { SimulatedServer } from '../network/server.js';
import { LONGEST_PERIOD } from '../workload/rules.js';
import type { SimulatedProcess } from '../world/simulated-process.js';
import type { World } from '../world/world.js';
import type { Journal } from './journal.js';
import type { Delivery, LossReason, Run } from './delivery.js';
import { GroupUse } from './group-use.js';
import { Handling } from './handling.js';
import { Life, type LifeEnd, MEMORY, numberOf } from './life.js';
import { Member } from './member.js';
import { Punctuality } from './punctuality.js';
import { RateUse } from './rate-use.js';

export interface OracleOptions {
  readonly world: World;
  readonly server: SimulatedServer;
  readonly scenario: Scenario;
  readonly journal: Journal;
  /** What a handler does with a message that it has started so many times before. */
  readonly conductOf: (message: number, starts: number) => Conduct;
}

export interface Violation {
  readonly promise: string;
  readonly at: number;
  readonly id: string;
  readonly detail: string;
}

/** Judges everything while it happens, by what the server has done. */
export class Oracle {
  readonly violations: Violation[] = [];
  readonly counts: Record<string, number> = {};
  /** Those that are there. */
  readonly members = new Set<Member>();
  readonly #memberOf = new WeakMap<SimulatedProcess, Member>();
  readonly #traits: ReadonlyMap<string, QueueTraits>;
  readonly #lives = new Map<string, Life>();
  readonly #held = new Map<MessageStore, Set<Life>>();
  readonly #groups = new Map<string, GroupUse>();
  /** What has ended, oldest first. */
  #ended: Life[] = [];
  #forgotten = 0;
  #inQueues = 0;
  readonly #paused = new Set<MessageStore>();
  readonly #queueOf = new Map<MessageStore, string>();
  readonly #punctuality: Punctuality;
  readonly #handling: Handling;
  readonly #rate: RateUse;

  constructor(private readonly options: OracleOptions) {
    const { world, server, scenario } = options;
    this.#traits = new Map(scenario.queues.map((traits) => [traits.name, traits]));
    this.#punctuality = new Punctuality(server, scenario);
    const violate = (promise: string, id: string, detail: string) => this.violate(promise, id, detail);
    this.#handling = new Handling({ world, server, scenario, punctuality: this.#punctuality, violate });
    this.#rate = new RateUse(scenario.rate);
  }

  join(process: SimulatedProcess): Member {
    const member = new Member(process);
    this.members.add(member);
    this.#memberOf.set(process, member);
    return member;
  }

  /** A process is gone. What it leaves behind takes the others a while, and its connections may take wake-up signals. */
  leave(member: Member): void {
    this.#punctuality.troubled(this.#now + LONGEST_LINGERING);
    this.members.delete(member);
  }

  /** Something is wrong with a process until then. */
  troubled(process: SimulatedProcess, until: number): void {
    this.#memberOf.get(process)!.troubledUntil(until);
    this.#punctuality.troubled(until);
  }

  /** Somebody makes false announcements until then. */
  misled(until: number): void {
    this.#punctuality.misled(until);
  }

  /** Somebody has set the clock of the server. Leases end by it. */
  stepped(by: number): void {
    this.#punctuality.stepped(this.#now);
    for (const life of this.#lives.values()) {
      if (life.due <= this.options.server.time - by) life.dueBeforeStep = life.due;
      life.debouncedSince -= by;
      if (!life.holder) continue;
      life.holder.leaseEnd -= by;
      life.holder.isLeaseUnsure = true;
    }
  }

  /** The groups of a queue that have had messages. */
  groupsOf(queue: string): GroupUse[] {
    return [...this.#groups.values()].filter((group) => group.queue === queue);
  }

  get inQueues(): number {
    return this.#inQueues;
  }

  /** Whether a queue, or a part of it, is paused. */
  isPaused(queue: string): boolean {
    return [...this.#paused].some((store) => this.#queueOf.get(store) === queue);
  }

  /** Whether a message of this id is, or was a while ago, in a queue. */
  knows(id: string): boolean {
    return this.#lives.has(id);
  }

  life(id: string): Life | undefined {
    return this.#lives.get(id);
  }

  /** Whether it waits for its due time, and nobody has claimed it before. */
  isDelayed({ end, wasClaimed, due, dueBeforeStep }: Life): boolean {
    return end === undefined && !wasClaimed && due > this.options.server.time && due !== dueBeforeStep;
  }

  /** A call has taken effect at the server. */
  effect(
    process: SimulatedProcess,
    queue: string,
    { store, call, args, result }: { store: MessageStore; call: string; args: readonly unknown[]; result: unknown },
  ): void {
    const [first, second] = args;
    const { journal } = this.options;
    journal.write(() => `${process.name} ${call} of ${queue}`);
    if (typeof first === 'string') journal.write(() => `${first} ${call}: ${String(result)}`);
    switch (call) {
      case 'offer':
        return this.#offered(queue, store, first as Offer[], result as OfferReceipt[]);
      case 'cancel':
        if (result) this.#cancelled(store, first as string);
        return undefined;
      case 'reschedule':
        if (result) this.#moved(first as string, second as DueTime);
        return undefined;
      case 'change':
        if (result === 'changed') this.#moved(first as string, (second as Change).due);
        return undefined;
      case 'claim':
        return this.#claimed(process, store, first as ClaimRequest, result as ClaimReport);
      case 'transferAndClaim':
        if (result) this.#claimed(process, store, first as ClaimRequest, (result as ClaimedTransfer).claimed);
        return undefined;
      case 'transfer':
        return this.#transferred(store, result as TransferReport);
      case 'extend':
        return this.#extended(store, first as Claim[], second as number, result as Claim[]);
      case 'settle':
        return this.#settled(process, first as Settlement[], result as SettleReport);
      case 'abort':
        if (result) this.#aborted(first as string);
        return undefined;
      case 'redrive':
        return this.#redriven(store, first as DeadSelection);
      case 'discard':
        return this.#discarded(store, first as DeadSelection);
      case 'clear':
        return this.#cleared(store);
      case 'pause':
        this.#paused.add(store);
        this.#queueOf.set(store, queue);
        return undefined;
      case 'resume':
        if (this.#paused.delete(store)) this.#punctuality.resumed(store, this.#now);
        return undefined;
      default:
        return undefined;
    }
  }

  /** A handler starts. @returns what it does */
  started(message: DelayedMessage, process: SimulatedProcess): { readonly conduct: Conduct; ended(): void } {
    const { world, scenario, conductOf, journal } = this.options;
    const life = this.#lives.get(message.id);
    const { now } = process;
    this.#count('started');
    journal.digestOf(1, numberOf(message.id));
    journal.write(() => `${message.id} starts, attempt ${message.attempt}`);
    if (!life) {
      this.violate('known', message.id, 'a handler starts with a message that ended long ago');
      return { conduct: conductOf(0, 0), ended: () => undefined };
    }
    const member = this.#memberOf.get(process)!;
    const delivery = member.holdingOf(life.queue.traits).waiting(message.id, message);
    this.#handling.judgeStart(life, delivery, message);
    const { group } = life.queue;
    const conduct = conductOf(life.number, life.starts);
    life.starts++;
    const signal = conduct.takes > LONG ? message.signal : undefined;
    const run: Run = { end: conduct.end, isOver: false, endedAt: Infinity };
    const holding = member.holdingOf(life.queue.traits);
    if (delivery) {
      this.#handling.judgeWaitForOthers(delivery, holding);
      delivery.run = run;
      group?.running.add(delivery);
      if (++holding.running > life.queue.traits.capacity) {
        this.violate('concurrency', life.id, `starts beside ${holding.running - 1} others in ${process.name}`);
      }
    }
    if (conduct.spins > 5) this.troubled(process, now + conduct.spins + 50);
    return {
      conduct,
      ended: () => {
        run.isOver = true;
        run.endedAt = world.now;
        if (delivery) {
          if (signal) this.#handling.judgeSignal(delivery, signal);
          if (holding.running >= scenario.concurrency) holding.fullAt = world.now;
          holding.running--;
          group?.running.delete(delivery);
          if (delivery.loss) this.#letGo(delivery);
        }
        journal.write(() => `${life.id} ends: ${conduct.end}`);
      },
    };
  }

  /** Judges what is held now. */
  judgeHeld(): void {
    for (const held of this.#held.values()) {
      for (const { holder } of held) this.#handling.judgeHeld(holder!);
    }
  }

  /** At the end, nothing is left over. */
  finish(): void {
    for (const life of this.#lives.values()) {
      if (life.end) continue;
      const { holder, due } = life;
      const where = holder ? `held by ${holder.member.process.name}` : `due ${this.options.server.time - due} ms ago`;
      this.violate('none lost', life.id, `left over in ${life.queue.traits.name}, ${where}`);
    }
  }

  violate(promise: string, id: string, detail: string): void {
    const { world, journal } = this.options;
    this.violations.push({ promise, at: world.now, id, detail });
    journal.write(() => `${id} VIOLATES ${promise}: ${detail}`);
  }

  /** Forgets what has ended long ago. */
  forget(): void {
    const since = this.#now - MEMORY;
    const ended = this.#ended;
    let i = this.#forgotten;
    for (; i < ended.length; i++) {
      const life = ended[i]!;
      if (life.endedAt > since) break;
      // A dead letter may come back.
      if (this.#lives.get(life.id) === life && life.end !== 'dead') this.#lives.delete(life.id);
    }
    this.#forgotten = i;
    if (i > 10_000) {
      this.#ended = ended.slice(i);
      this.#forgotten = 0;
    }
  }

  get #now(): number {
    return this.options.world.now;
  }

  #count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  #groupOf(queue: string, name: string | undefined): GroupUse | undefined {
    const permits = this.#traits.get(queue)!.permits;
    if (name === undefined || permits === null) return undefined;
    const key = `${queue} ${name}`;
    let group = this.#groups.get(key);
    if (!group) {
      group = new GroupUse(queue, name, permits);
      this.#groups.set(key, group);
    }
    return group;
  }

  #offered(queue: string, store: MessageStore, offers: Offer[], receipts: OfferReceipt[]): void {
    receipts.forEach(({ outcome, dueAt }, i) => {
      const { id, due, group, maxWait, onDuplicate } = offers[i]!;
      const { journal } = this.options;
      this.#count(`offer ${outcome}`);
      journal.digestOf(2, numberOf(id));
      journal.write(() => `${id} offered to ${queue}: ${outcome}, due ${this.options.server.worldTimeOf(dueAt)}`);
      if (outcome === 'followed') {
        const present = this.#lives.get(id)!;
        present.follower = due;
        present.repeats = onDuplicate === 'repeat';
        return;
      }
      if (outcome !== 'created' && outcome !== 'replaced') return;
      const known = this.#lives.get(id);
      if (known && !known.end) this.#lose(known, 'replaced');
      if (known) this.#releasePermit(known);
      const life = new Life(
        id,
        { traits: this.#traits.get(queue)!, store, group: this.#groupOf(queue, group) },
        dueAt,
        this.#now,
      );
      if (known) life.starts = known.starts;
      life.repeats = onDuplicate === 'repeat';
      this.#judgeWait(life, known, maxWait);
      if (!known || known.end) this.#inQueues++;
      this.#lives.set(id, life);
      known?.queue.group?.waiting.delete(known);
      life.queue.group?.waiting.add(life);
      if (known?.end) this.#forgetEnd(known);
    });
  }

  /** A message that is offered again and again waits no longer than its offers say. */
  #judgeWait(life: Life, known: Life | undefined, maxWait: number | undefined): void {
    const isDelayed = known && this.isDelayed(known);
    if (maxWait === undefined || !isDelayed) return;
    life.debouncedSince = known.debouncedSince;
    const late = this.options.server.worldTimeOf(life.due) - life.debouncedSince - maxWait;
    if (late > 1) this.violate('waits no longer', life.id, `due ${late} ms after the end of its wait`);
  }

  #cancelled(store: MessageStore, id: string): void {
    const life = this.#lives.get(id)!;
    // It may be the follower alone that was removed.
    void store.find(id).then((found) => {
      if (found) {
        life.follower = undefined;
        life.repeats = false;
      } else this.#end(life, 'cancelled');
    });
  }

  #moved(id: string, due: DueTime): void {
    const life = this.#lives.get(id)!;
    const { server, journal } = this.options;
    life.due = instantOf(due, server.time);
    life.freeSince = this.#now;
    life.inLineSince = this.#now;
    if (!life.wasClaimed) life.firstDue = life.due;
    journal.write(() => `${id} moved, due ${server.worldTimeOf(life.due)}`);
  }

  #claimed(process: SimulatedProcess, store: MessageStore, request: ClaimRequest, { messages }: ClaimReport): void {
    const { token, insteadOf, lease } = request;
    const { server, journal } = this.options;
    const worldTimeOf = (instant: number) => server.worldTimeOf(instant);
    const member = this.#memberOf.get(process)!;
    const held = this.#heldOf(store);
    /** What the consumer holds already, although no answer has told it. */
    const again = new Set<Life>();
    if (insteadOf !== undefined) {
      for (const life of held) {
        if (life.holder!.token !== insteadOf) continue;
        this.#lose(life, 'claimed again');
        again.add(life);
        life.queue.group?.waiting.add(life);
      }
    }
    for (const { id } of messages) {
      const life = this.#lives.get(id);
      if (!life) {
        this.violate('known', id, `claimed by ${process.name} after its end`);
        continue;
      }
      journal.digestOf(3, life.number);
      journal.write(() => `${id} claimed, token ${token}${insteadOf === undefined ? '' : ` instead of ${insteadOf}`}`);
      const late = this.#punctuality.judge(life, this.members, this.#now);
      if (late !== undefined) this.violate('on time', id, late);
      if (life.queue.traits.kind === 'rated' && !this.#rate.take(this.options.server.time)) {
        this.violate('rate', id, 'is claimed beyond the rate');
      }
      if (this.#paused.has(store) && !again.has(life))
        this.violate('paused', id, `claimed though ${life.queue.traits.name} is paused`);
      const { group } = life.queue;
      if (group) {
        group.waiting.delete(life);
        // Who has kept its permit while it waited for its retry goes first.
        const isFirst = life.hasPermit || this.#punctuality.hasStepped(this.#now);
        const overtaken = isFirst ? undefined : group.overtakenBy(life, worldTimeOf);
        if (overtaken) this.violate('order', id, `is claimed before ${overtaken.id}, of the same group`);
        if (!life.hasPermit) {
          life.hasPermit = true;
          group.used++;
          if (group.used > group.permits)
            this.violate('permits', id, `the ${group.used}th of group ${group.name} is claimed`);
        }
      }
      life.wasClaimed = true;
      const attempt = life.failedAttempts + 1;
      const claim = { token, member, life, dueAt: life.due, attempt, claimedAt: this.#now };
      const end = { loss: undefined, lostAt: Infinity, leaseEnd: this.#now + lease, isLeaseUnsure: false };
      const delivery: Delivery = { ...claim, ...end, run: undefined };
      life.holder = delivery;
      held.add(life);
      member.holdingOf(life.queue.traits).add(delivery);
    }
  }

  #transferred(store: MessageStore, { recovered, buried }: TransferReport): void {
    if (recovered + buried.length === 0) return;
    const { world, journal } = this.options;
    const now = world.now;
    for (const life of this.#heldOf(store)) {
      const delivery = life.holder!;
      const { member, token, leaseEnd } = delivery;
      if (Math.ceil(leaseEnd + this.options.server.time - now) > Math.floor(this.options.server.time)) continue;
      this.#count('leases ended');
      journal.write(() => `${life.id} lease of ${token} has ended`);
      if (!this.#isExcused(delivery)) {
        this.violate('lease kept', life.id, `${member.process.name} lost it without a cause`);
      }
      this.#lose(life, 'lease ended');
      life.failedAttempts++;
      life.free(now);
      life.inLineSince = now;
      if (buried.includes(life.id)) this.#endOrFollow(life, 'dead');
    }
  }

  /** Whether its process may have failed to extend it in time. */
  #isExcused({ member, leaseEnd, isLeaseUnsure }: Delivery): boolean {
    const { process, isStopping, wellFrom } = member;
    return isLeaseUnsure || process.isDead || isStopping || wellFrom > leaseEnd - 0.55 * this.options.scenario.lease;
  }

  #extended(store: MessageStore, claims: Claim[], lease: number, lost: Claim[]): void {
    const tokens = new Set(claims.map(({ token }) => token));
    const named = new Set(claims.map(({ id }) => id));
    const gone = new Set(lost.map(({ id }) => id));
    for (const life of this.#heldOf(store)) {
      const { token, run } = life.holder!;
      if (!tokens.has(token)) continue;
      if (!named.has(life.id)) {
        if (run && !run.isOver) {
          this.violate('held', life.id, 'released by an extension while its handler runs');
        }
        this.#lose(life, 'released');
        life.free(this.#now);
      } else if (!gone.has(life.id)) {
        const delivery = life.holder!;
        delivery.isLeaseUnsure ||= this.#isExcused(delivery);
        delivery.leaseEnd = this.#now + lease;
      }
    }
  }

  #settled(process: SimulatedProcess, settlements: Settlement[], { accepted }: SettleReport): void {
    const member = this.#memberOf.get(process)!;
    settlements.forEach(({ claim: { id, token }, outcome }, i) => {
      const life = this.#lives.get(id);
      const { journal } = this.options;
      if (!life) return;
      const delivery = member.holdingOf(life.queue.traits).find(id, token);
      if (delivery) this.#letGo(delivery);
      journal.digestOf(4, life.number);
      journal.write(() => `${id} settled: ${outcome.kind}, ${accepted[i] ? 'accepted' : 'refused'}, token ${token}`);
      if (accepted[i]) this.#settledOne(life, delivery, outcome);
    });
  }

  #settledOne(life: Life, delivery: Delivery | undefined, outcome: Outcome): void {
    const { server } = this.options;
    this.#count(outcome.kind);
    this.#handling.judgeOutcome(life, delivery, outcome);
    this.#lose(life, 'settled');
    if (outcome.kind === 'retry' || outcome.kind === 'dead') life.failedAttempts++;
    if (outcome.kind === 'release') {
      // It keeps its place.
      life.free(this.#now);
      return;
    }
    if (outcome.kind === 'ack' || outcome.kind === 'dead') {
      if (outcome.next && life.repeats && !life.follower) return this.#repeat(life, outcome.next.at);
      const isExpired = 'lateBy' in outcome && outcome.lateBy !== undefined;
      return this.#endOrFollow(life, outcome.kind === 'dead' ? 'dead' : isExpired ? 'expired' : 'handled');
    }
    if (outcome.kind !== 'retry' || !life.queue.traits.holds) this.#releasePermit(life);
    const due = 'at' in outcome ? outcome.at : Math.ceil(server.time + outcome.delay);
    if (outcome.kind === 'again') return life.renew(due, this.#now);
    life.due = due;
    life.free(this.#now);
    life.inLineSince = this.#now;
  }

  /** The next occurrence comes, each once, and none is left out but those for which this one stands. */
  #repeat(life: Life, next: number): void {
    const { server } = this.options;
    this.#count('occurrences');
    if ((next <= life.due || next > server.time + LONGEST_PERIOD) && !this.#punctuality.hasStepped(this.#now)) {
      this.violate('occurrences', life.id, `the next of ${life.due} is ${next}, at ${server.time}`);
    }
    life.renew(next, this.#now);
  }

  #aborted(id: string): void {
    const life = this.#lives.get(id)!;
    this.#lose(life, 'aborted');
    this.#endOrFollow(life, 'aborted');
  }

  #redriven(store: MessageStore, selection: DeadSelection): void {
    for (const life of this.#selected(store, selection)) {
      void store.find(life.id).then((found) => {
        if (!found) return this.#discard(life);
        if (found.state === 'dead' || life.end !== 'dead') return;
        this.#count('redriven');
        this.#forgetEnd(life);
        life.end = undefined;
        this.#inQueues++;
        life.renew(found.dueAt, this.#now);
      });
    }
  }

  #discarded(store: MessageStore, selection: DeadSelection): void {
    for (const life of this.#selected(store, selection)) {
      void store.find(life.id).then((found) => {
        if (!found) this.#discard(life);
      });
    }
  }

  /** The dead letters that a call may have been about. */
  #selected(store: MessageStore, selection: DeadSelection): Life[] {
    const all = 'id' in selection ? [this.#lives.get(selection.id)] : [...this.#lives.values()];
    return all.filter((life): life is Life => life?.end === 'dead' && life.queue.store === store);
  }

  #discard(life: Life): void {
    if (life.end !== 'dead') return;
    this.#forgetEnd(life);
    this.#count('discarded');
    life.end = 'discarded';
    life.endedAt = this.#now;
    this.#ended.push(life);
  }

  #cleared(store: MessageStore): void {
    for (const life of this.#lives.values()) {
      if (life.queue.store !== store) continue;
      if (life.end) {
        this.#discard(life);
        continue;
      }
      this.#lose(life, 'cleared');
      this.#end(life, 'cleared');
    }
  }

  #endOrFollow(life: Life, end: LifeEnd): void {
    const { follower } = life;
    this.#releasePermit(life);
    if (!follower) return this.#end(life, end);
    this.#count('followed');
    life.follower = undefined;
    life.renew(instantOf(follower, this.options.server.time), this.#now);
  }

  #end(life: Life, end: LifeEnd): void {
    this.#count(end);
    this.#releasePermit(life);
    life.end = end;
    life.endedAt = this.#now;
    life.follower = undefined;
    life.queue.group?.waiting.delete(life);
    this.#inQueues--;
    this.#ended.push(life);
  }

  /** It has begun another life. */
  #forgetEnd(life: Life): void {
    const at = this.#ended.indexOf(life, this.#forgotten);
    if (at >= 0) this.#ended.splice(at, 1);
  }

  #lose(life: Life, reason: LossReason): void {
    const delivery = life.holder;
    if (!delivery) return;
    delivery.loss = reason;
    delivery.lostAt = this.#now;
    life.holder = undefined;
    this.#heldOf(life.queue.store).delete(life);
    // The process has never heard of it, or has let go of it itself.
    if (reason === 'claimed again' || reason === 'released') this.#letGo(delivery);
  }

  /** It takes no slot of its process any more. */
  #letGo(delivery: Delivery): void {
    const { traits } = delivery.life.queue;
    delivery.member.holdingOf(traits).remove(delivery, this.#now);
  }

  #releasePermit(life: Life): void {
    const { group } = life.queue;
    if (!group || !life.hasPermit) return;
    life.hasPermit = false;
    if (group.used-- === group.permits) group.roomSince = this.#now;
  }

  #heldOf(store: MessageStore): Set<Life> {
    let held = this.#held.get(store);
    if (!held) this.#held.set(store, (held = new Set()));
    return held;
  }
}
