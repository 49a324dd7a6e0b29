import type { DelayedMessage } from '../../../lib/index.js';
import type { Outcome } from '../../../lib/store/consumer-store.js';
import { ownAttemptsOf, releaseFor, type Scenario } from '../applications/scenario.js';
import type { SimulatedServer } from '../network/server.js';
import type { World } from '../world/world.js';
import type { Delivery } from './delivery.js';
import { type Life, MEMORY } from './life.js';
import type { Punctuality } from './punctuality.js';
import type { RepeatUse } from './repeat-use.js';

/** The time that a process that is well may take to start what it has claimed, or to send an outcome, ms: after failures, it pauses. */
const PROMPT = 8000;

/** The time that a process that is well may take to call the handler of what has waited for others, once there is room, ms. */
const PROMPT_CALL = 30;

/** How far clocks of processes differ within a lease, as a share of it. */
const DRIFT = 0.002;

/** How long after its expiry a message may be started: the store's time is an estimate, ms. */
const EXPIRY_SLACK = 25;

/**
 * How long before its expiry a message may be removed, ms: the consumer assumes that the store read its clock when the claim was sent, and
 * keeps an estimate from an answer that took so long. The outcome may be on its way for a shorter time than the claim was.
 */
const EXPIRY_LEAD = 50;

/** The time between a claim and a start, ms, within which the claim's answer was quick enough to correct the process's clock. */
const QUICK = 50;

/** A process whose calls are slow may be wrong about the store's time for so long after them, ms. */
const SLOW_CLOCK = 3000;

/** How long after the end of a lease the signal may abort, ms. */
const PROMPT_SIGNAL = 50;

export interface HandlingOptions {
  readonly world: World;
  readonly server: SimulatedServer;
  readonly scenario: Scenario;
  readonly punctuality: Punctuality;
  readonly repeats: RepeatUse;
  readonly violate: (promise: string, id: string, detail: string) => void;
}

/** Whether handlers start when they may, hear of what concerns them, and their outcomes are told as they are. */
export class Handling {
  constructor(private readonly options: HandlingOptions) {}

  /** @param delivery - undefined: its process has no claim of it that waits for a handler */
  judgeStart(life: Life, delivery: Delivery | undefined, message: DelayedMessage): void {
    const { violate } = this.options;
    if (!delivery) return violate('lease', life.id, 'starts without a claim, or again under the same');
    const { member } = delivery;
    this.options.repeats.started(life, delivery);
    // The payload is the number in the id, also in that of an occurrence's dead letter.
    if (/m(\d+)/.exec(message.id)?.[1] !== String(message.payload))
      violate('payload', life.id, 'is not what was offered');
    if (!this.#knowsType(delivery))
      violate('type', life.id, `starts in ${member.process.name}, which does not know its type`);
    const { now, suspendedUntil } = member.process;
    const stoodStill = this.#stoodStill(delivery) || delivery.isLeaseUnsure;
    this.#judgeLease(delivery, now, stoodStill);
    const { expiresAfter } = life.queue.traits;
    const lead = now - this.options.world.now;
    const time = this.options.server.time + lead;
    // A suspension stops its clock. A claim whose answer comes quickly shows that; a slow one may not.
    const isClockBehind =
      suspendedUntil > delivery.claimedAt || (suspendedUntil > now - MEMORY && now - delivery.claimedAt > QUICK);
    if (expiresAfter !== null && !this.#hasStepped && !isClockBehind) {
      const late = time - life.firstDue - expiresAfter;
      if (late > EXPIRY_SLACK) violate('expiry', life.id, `handled ${late.toFixed(1)} ms after it expired`);
    }
    if (life.holder !== delivery) return;
    if (time < life.due && life.dueBeforeStep !== life.due) {
      violate('never early', life.id, `by ${life.due - time} ms`);
    }
    if (message.attempt > this.#attemptsOf(life)) {
      violate('attempts', life.id, `attempt ${message.attempt} of ${this.#attemptsOf(life)}`);
    }
    if (message.attempt !== life.failedAttempts + 1) {
      violate('attempts', life.id, `attempt ${message.attempt} after ${life.failedAttempts} failures`);
    }
    this.#judgePermits(delivery, now);
  }

  /**
   * A message waits for others of its batch no longer than that says, once there is room for a call.
   *
   * @param now - when its wait ended, ms of the world
   */
  judgeWaitForOthers({ life, claimedAt, member, holding }: Delivery, now: number): void {
    const { punctuality, violate } = this.options;
    const { name, batchWait } = life.queue.traits;
    const { fullAt } = holding;
    const well = (from: number, to: number) => member.longestUnhindered('claims', name, from, to);
    const since = Math.max(claimedAt, fullAt);
    const late = well(since, now) - batchWait;
    const bound = punctuality.boundAloneSince(since, member.process);
    if (late > bound) return violate('started', life.id, `${late.toFixed(1)} ms after its claim (${bound})`);
    // Its process has had it for long enough, and only had no room for a call.
    const arrivedAt = claimedAt + punctuality.calmBound;
    if (well(claimedAt, arrivedAt) < punctuality.calmBound) return;
    const over = well(Math.max(arrivedAt + batchWait, fullAt), now);
    if (over > PROMPT_CALL) violate('started', life.id, `${over.toFixed(1)} ms after there was room for a call`);
  }

  /** The signal of a handler has aborted by the end of its lease, and when its message is aborted. */
  judgeSignal(delivery: Delivery, signal: AbortSignal): void {
    if (signal.aborted) return;
    const { life, loss, lostAt, leaseEnd, isLeaseUnsure, member } = delivery;
    const { world, scenario, punctuality, violate } = this.options;
    const { now } = world;
    const stoodStill = this.#stoodStill(delivery) || member.process.busyUntil > leaseEnd || isLeaseUnsure;
    const overLease = now - leaseEnd - DRIFT * scenario.lease;
    if (overLease > PROMPT_SIGNAL && !stoodStill) {
      violate('signal', life.id, `has not aborted ${overLease.toFixed(1)} ms after the end of the lease`);
    }
    if (loss !== 'aborted' || member.unhinderedSince('announcements', life.queue.traits.name, now) > lostAt) return;
    const overAbort = now - lostAt;
    if (overAbort > punctuality.calmBound) {
      violate('signal', life.id, `has not aborted ${overAbort.toFixed(1)} ms after the abort`);
    }
  }

  /** What is held is handled, and its outcome sent, as soon as its process is well. */
  judgeHeld(delivery: Delivery): void {
    const { run, claimedAt, member, holding, life } = delivery;
    const { id, queue, deliveries } = life;
    // Its process has let go of it, which the server has forgotten.
    if (!deliveries.includes(delivery)) return;
    const { world, scenario, violate } = this.options;
    const { now } = world;
    const limit = PROMPT + scenario.callTimeout;
    const well = member.wellSince(now);
    const isFull = holding.calls >= holding.concurrency;
    // A batch is settled as a whole.
    if (run && now - Math.max(run.call.endedAt, well) > limit) {
      violate('outcome', id, `was not sent for ${(now - run.call.endedAt).toFixed(0)} ms`);
    }
    if (!run && !isFull && now - Math.max(claimedAt, well) > limit + queue.traits.batchWait) {
      violate('started', id, `was claimed ${(now - claimedAt).toFixed(0)} ms ago, and no handler has started`);
    }
  }

  /** @param delivery - undefined: its process has no such claim */
  judgeOutcome(life: Life, delivery: Delivery | undefined, outcome: Outcome): void {
    const { violate } = this.options;
    const { id } = life;
    if (!delivery || life.holder !== delivery) violate('outcome', id, `${outcome.kind} of a claim that has ended`);
    const run = delivery?.run;
    if ('lateBy' in outcome && outcome.lateBy !== undefined) return this.#judgeExpiry(life, delivery, outcome.lateBy);
    if (outcome.kind === 'release') {
      // A handler that fails when it is told of the shutdown has not used up an attempt.
      const isCutShort = run?.isOver && run.end === 'throw' && delivery?.member.isStopping;
      if (run && !isCutShort) violate('outcome', id, 'released though a handler has started');
      return;
    }
    const attempts = this.#attemptsOf(life);
    if (!run) {
      // All attempts of an occurrence, or of a message with fewer than its queue, may have lost their leases: whoever claims it ends it.
      if (outcome.kind === 'defer' && delivery && !this.#knowsType(delivery)) return;
      const isSpent = outcome.kind === 'dead' && outcome.by === 'lease' && life.failedAttempts >= attempts;
      if (!isSpent) violate('outcome', id, `${outcome.kind} though no handler has started`);
      return;
    }
    if (!run.isOver) return violate('outcome', id, `${outcome.kind} though its handler still runs`);
    const thrown = life.failedAttempts + 1 >= attempts ? 'dead' : 'retry';
    const expected = { return: 'ack', throw: thrown, retry: thrown, reject: 'dead', defer: 'defer', again: 'again' }[
      run.end
    ];
    if (outcome.kind !== expected) violate('outcome', id, `${outcome.kind} after ${run.end}`);
  }

  /** A transfer takes a message back whose lease has ended, which spends an attempt. */
  judgeTakenBack(life: Life, isDead: boolean): void {
    const attempts = Math.max(this.options.scenario.attempts, this.#attemptsOf(life));
    const isSpent = life.failedAttempts >= attempts && !life.repeats;
    if (isDead === isSpent) return;
    const detail = `${isDead ? 'dead' : 'ready'} after ${life.failedAttempts} of ${attempts} attempts`;
    this.options.violate('attempts', life.id, detail);
  }

  #attemptsOf({ number }: Life): number {
    return ownAttemptsOf(number) ?? this.options.scenario.attempts;
  }

  /** True if the clock of its process stood still since the claim was sent, so that it cannot tell when the lease ends. */
  #stoodStill({ member, claimedAt }: Delivery): boolean {
    return member.process.suspendedUntil > claimedAt - this.options.scenario.callTimeout;
  }

  /** True if its process has a handler for the type of a message; otherwise the message waits for a process that has. */
  #knowsType({ life, member }: Delivery): boolean {
    return life.queue.traits.kind !== 'typed' || releaseFor(life.number, this.options.scenario) <= member.release;
  }

  get #hasStepped(): boolean {
    return this.options.punctuality.hasStepped(this.options.world.now);
  }

  #judgeLease(delivery: Delivery, now: number, stoodStill: boolean): void {
    const { scenario, violate } = this.options;
    const { life, loss, leaseEnd } = delivery;
    if (life.holder === delivery || loss === 'lease ended') {
      const lateBy = now - leaseEnd - DRIFT * scenario.lease;
      if (lateBy > 0 && !stoodStill) violate('lease', life.id, `starts ${lateBy} ms after the end of its lease`);
      return;
    }
    // These are announced, and announcements take their time, or get lost.
    if (loss === 'replaced' || loss === 'aborted' || loss === 'cleared' || loss === 'forgotten') return;
    violate('lease', life.id, `starts though it is not held: ${loss ?? 'never claimed'}`);
  }

  #judgePermits({ life }: Delivery, now: number): void {
    const { group } = life;
    if (!group) return;
    if (group.running.size < group.mostPermits) return;
    const others = [...group.running].filter(
      (each) => each.life !== life && each.life.holder === each && each.leaseEnd > now,
    );
    if (others.length < group.mostPermits) return;
    const ids = others.map((each) => each.life.id).join(', ');
    this.options.violate('permits', life.id, `starts beside ${ids} of group ${group.name}`);
  }

  /** @param lateBy - for how long it had expired when its process noticed, ms */
  #judgeExpiry(life: Life, delivery: Delivery | undefined, lateBy: number): void {
    const { world, server, scenario, violate } = this.options;
    const { expiresAfter } = life.queue.traits;
    const early = life.firstDue + (expiresAfter ?? Infinity) - server.time;
    // Of a process whose calls are slow, the estimate of the store's time may be ahead by as much.
    const isSlow = delivery !== undefined && delivery.member.wellFrom > world.now - SLOW_CLOCK;
    const ahead = isSlow ? scenario.callTimeout : EXPIRY_LEAD;
    const isSkipped = delivery !== undefined && this.options.repeats.maySkip(life, delivery);
    if (!isSkipped && early > ahead && !this.#hasStepped) {
      violate('expiry', life.id, `removed ${early.toFixed(1)} ms before it expires`);
    }
    if (delivery?.run) return violate('expiry', life.id, 'removed as expired though a handler has started');
    // An occurrence that is skipped has not expired: `lateBy` counts from another time.
    if (!delivery || expiresAfter === null || this.#hasStepped) return;
    // It must not have expired because its process let it wait.
    const expiredAt = server.worldTimeOf(life.firstDue + expiresAfter);
    this.judgeWaitForOthers(delivery, expiredAt + lateBy - ahead);
  }
}
