import type { QueueTraits, Scenario } from '../applications/scenario.js';
import type { SimulatedServer } from '../network/server.js';
import type { SimulatedProcess } from '../world/simulated-process.js';
import { type Life, MEMORY } from './life.js';
import type { Member } from './member.js';
import type { QueueUse } from './queue-use.js';

/**
 * Without any trouble, a message is claimed so many ms after it is due at the latest: a few round trips, of which one in a thousand
 * takes up to 20 ms.
 */
const PUNCTUAL = 100;

/** What each unit of distance adds to that, ms. */
const PUNCTUAL_PER_DISTANCE = 12;

/**
 * While other processes are in trouble, one that is well may take so long, ms: it waits for the eager one (up to 1.25 s), and what is
 * ready without a wake-up signal is found by the next look (1 s, and the same grace).
 */
const WITH_OTHERS_IN_TROUBLE = 3800;

/** How long after the due time a standby fires at the latest, ms. */
const STANDBY_GRACE = 1250;

/** The time for which others may still suffer from a trouble that is over, ms. */
const AFTERMATH = 3000;

/** Whether messages are claimed in time. */
export class Punctuality {
  /** The time from which others no longer suffer from the latest trouble of each process. */
  readonly #calmFrom = new Map<SimulatedProcess, number>();
  /** The time from which each process certainly no longer suffers from its own troubles. */
  readonly #recoveredFrom = new Map<SimulatedProcess, number>();
  /** The time from which nobody suffers from the going of the last process that went. */
  #calmAfterLeft = -Infinity;
  /** The time at which the effects of false announcements, or of a clock that was set, end, or have ended. */
  #misledUntil = -Infinity;
  /** The time at which the clock of the server was set, ms of the world. */
  #steppedAt = -Infinity;
  /** The time at which something was first claimed since then: until then, each process may take another one for the one that fires first. */
  readonly #recoveredAt = new Map<QueueUse, number>();

  /** The time at which a process last went, ms of the world. */
  #leftAt = -Infinity;
  /** The time at which what others have moved was first claimed since then: until then, the scheduler that fired first may be missing. */
  readonly #takenOverAt = new Map<QueueUse, number>();

  /** The time at which queues were first registered, ms of the world. */
  readonly #registeredAt = new Map<string, number>();

  constructor(
    private readonly server: SimulatedServer,
    private readonly scenario: Scenario,
  ) {}

  /**
   * Something is wrong with a process until then.
   *
   * @param isExact - true if the process itself has certainly recovered then; otherwise this is an estimate
   */
  troubled(process: SimulatedProcess, until: number, isExact: boolean): void {
    const calmFrom = until + AFTERMATH;
    for (const known of isExact ? [this.#calmFrom] : [this.#calmFrom, this.#recoveredFrom]) {
      known.set(process, Math.max(known.get(process) ?? -Infinity, calmFrom));
    }
  }

  /** A process is gone, or stops, and with it perhaps the schedulers that fired first. What it leaves behind takes the others a while. */
  left(process: SimulatedProcess, now: number, lingering: number): void {
    const calmFrom = this.#calmFrom.get(process) ?? -Infinity;
    this.#calmFrom.delete(process);
    this.#recoveredFrom.delete(process);
    this.#calmAfterLeft = Math.max(this.#calmAfterLeft, calmFrom, now + lingering + AFTERMATH);
    this.#leftAt = now;
    this.#takenOverAt.clear();
  }

  /** A transfer of a process that has gone arrives: those that hear of it may take that process for the one that fires first, new ones too. */
  movedLate(queue: QueueUse, now: number): void {
    this.#leftAt = now;
    this.#takenOverAt.delete(queue);
  }

  /** False announcements are made until then. */
  misled(until: number): void {
    this.#misledUntil = Math.max(this.#misledUntil, until + this.scenario.checkInterval);
    this.#recoveredAt.clear();
  }

  /** The clock of the server was set: what was waited for may come earlier, and is found by the next check. */
  stepped(now: number, by: number): void {
    this.#steppedAt = now;
    // Until a clock that was set back has caught up, schedulers compare instants from before and after.
    this.misled(now + Math.max(0, -by));
  }

  registered(queue: string, now: number): void {
    if (!this.#registeredAt.has(queue)) this.#registeredAt.set(queue, now);
  }

  /** True if the clock of the server was set a while ago: what was decided before still shows. */
  hasStepped(now: number): boolean {
    return this.#steppedAt > now - MEMORY;
  }

  /** The time for which a message may wait for a process that is well itself, ms. */
  boundSince(at: number, process: SimulatedProcess): number {
    if (at <= this.#misledUntil) return this.scenario.checkInterval + this.#troubledBound;
    if (at <= this.#calmAfterLeft) return this.#troubledBound;
    for (const [other, calmFrom] of this.#calmFrom) {
      if (other !== process && at <= calmFrom) return this.#troubledBound;
    }
    return this.boundAloneSince(at, process);
  }

  /** The same for a message that the process has claimed: then no other matters. */
  boundAloneSince(at: number, process: SimulatedProcess): number {
    return at <= (this.#recoveredFrom.get(process) ?? -Infinity) ? this.#troubledBound : this.calmBound;
  }

  /** The time that something announced takes until a process that hears it has acted on it, ms. */
  get calmBound(): number {
    return PUNCTUAL + PUNCTUAL_PER_DISTANCE * this.scenario.distance;
  }

  get #troubledBound(): number {
    return WITH_OTHERS_IN_TROUBLE + PUNCTUAL_PER_DISTANCE * this.scenario.distance;
  }

  /** True if messages that waited since then were claimed by the first process that had forgotten all false announcements. */
  #hasHelpedToRecover(queue: QueueUse, since: number, now: number): boolean {
    return now > this.#misledUntil && this.#misledUntil >= 0 && since <= this.#recoveredAt.get(queue)!;
  }

  /** True if messages that waited since then were claimed by a standby, because no process has come since one went. */
  #hasTakenOver(queue: QueueUse, since: number, members: readonly Member[]): boolean {
    const isNew = ({ joinedAt, servesSince }: Member) => this.#leftAt < joinedAt && servesSince < since;
    return since <= (this.#takenOverAt.get(queue) ?? Infinity) && !members.some(isNew);
  }

  /**
   * True if perhaps nobody expects to be the first to move what falls due: the last one to move any has not heard of it, so it takes another
   * one for the last, which knows better.
   */
  #areAllStandbys(queue: QueueUse, due: number, members: readonly Member[]): boolean {
    const { before } = queue.transfersAround(due);
    if (!before || before.isKnown) return false;
    // False announcements name somebody else, too.
    return this.#misledUntil >= 0 || members.some((member) => member !== before.member);
  }

  /** @returns what is wrong with the claim of a message now; undefined: nothing */
  judge(life: Life, members: readonly Member[], now: number): string | undefined {
    const { group, queue } = life;
    const { traits } = queue;
    // It waits for the rate.
    if (traits.kind === 'rated') return undefined;
    // It waits for the rate of its group.
    const opensAt = group?.rate?.opensAt() ?? -Infinity;
    const due = this.server.worldTimeOf(Math.max(life.due, opensAt));
    let since = Math.max(due, life.freeSince, this.#steppedAt, queue.resumedAt, queue.roomSince);
    if (group) since = Math.max(since, group.resumedAt);
    if (traits.kind === 'limited') {
      // Only a process that does not know the limits yet could claim it.
      if (queue.held.size >= queue.limits.current.globalConcurrency) return undefined;
      since = Math.max(since, queue.limits.settledAt(members));
    }
    if (group && !life.hasPermit) since = Math.max(since, group.roomSince);
    if (now > this.#misledUntil && !this.#recoveredAt.has(queue)) this.#recoveredAt.set(queue, now);
    const moved = queue.lastTransfer;
    const isTakenOver = moved !== undefined && moved.at > this.#leftAt && members.includes(moved.member);
    if (isTakenOver && !this.#takenOverAt.has(queue)) this.#takenOverAt.set(queue, now);
    if (now - since <= this.calmBound) return undefined;
    const slow = since === due && due > this.server.worldTimeOf(opensAt) && this.#judgeTransfer(queue, since);
    if (slow) return slow;
    const hasRecovered = this.#hasHelpedToRecover(queue, since, now);
    const hasTakenOver = this.#hasTakenOver(queue, since, members);
    if (this.#isHardToFind(traits, since, now)) return undefined;
    const standbys = since === due && this.#areAllStandbys(queue, due, members) ? STANDBY_GRACE + this.calmBound : 0;
    for (const member of members) {
      let bound = this.boundSince(since, member.process);
      if (hasRecovered || hasTakenOver) bound = Math.max(bound, this.#troubledBound);
      bound = Math.max(bound, standbys);
      const { roomSince } = member.holdingOf(traits);
      const waited = member.longestUnhindered('claims', traits.name, Math.max(since, roomSince), now);
      if (waited <= bound) continue;
      return `${traits.name}: ${member.process.name} could have claimed it ${waited.toFixed(1)} ms before (${bound})`;
    }
    return undefined;
  }

  /**
   * Who has moved something last is the first to move what falls due next, whatever happens to others.
   *
   * @param due - of a message of the queue that is claimed, ms of the world
   */
  #judgeTransfer(queue: QueueUse, due: number): string | undefined {
    const { before, after } = queue.transfersAround(due);
    if (!before || !after || before.at <= Math.max(this.#misledUntil, this.#steppedAt)) return undefined;
    const { member } = before;
    const { name } = queue.traits;
    // It must have heard of its own transfer, and of everything since.
    const isWell =
      member.unhinderedSince('claims', name, after.at) < before.at &&
      member.unhinderedSince('announcements', name, after.at) < before.at;
    const late = after.at - due;
    if (!isWell || late <= this.calmBound) return undefined;
    return `${name}: ${member.process.name}, the last to move any, could have moved it ${late.toFixed(1)} ms before`;
  }

  /**
   * Whether a queue of a family was not registered when messages came, or has been for a short time: if its registration failed and its
   * announcement was missed, the next reading of the directory finds it.
   */
  #isHardToFind({ kind, name }: QueueTraits, since: number, now: number): boolean {
    if (kind !== 'tenant') return false;
    const { checkInterval } = this.scenario;
    const registeredAt = this.#registeredAt.get(name) ?? now;
    return since <= registeredAt + checkInterval && now <= registeredAt + checkInterval + this.#troubledBound;
  }
}
