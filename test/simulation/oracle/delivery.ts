import type { RepeatProgress } from '../../../lib/message/repeat-rule.js';
import type { ConductEnd } from '../applications/conduct.js';
import type { Life } from './life.js';
import type { Member } from './member.js';

/** The reason why a claim of a message has ended. */
export type LossReason =
  'lease ended' | 'replaced' | 'aborted' | 'cleared' | 'claimed again' | 'released' | 'settled' | 'forgotten';

/** A call of a handler: with one message, or with a batch. */
export interface Call {
  /** The messages that its process has a claim of. */
  readonly deliveries: Delivery[];
  /** How many of them the handler still works on. */
  running: number;
  /** ms of the world. */
  endedAt: number;
}

/** The behaviour of a handler with a message. */
export interface Run {
  readonly call: Call;
  readonly end: ConductEnd;
  isOver: boolean;
}

/** A message under one claim, from the claim until its process has let go of it. */
export class Delivery {
  /** Undefined: its handler has not started. */
  run: Run | undefined = undefined;
  /** Undefined: the server has it as held. */
  loss: LossReason | undefined = undefined;
  /** ms of the world. */
  lostAt = Infinity;
  /** True if its process may assume another end of the lease: it was extended late, or the server's clock was set. */
  isLeaseUnsure = false;
  /** True if its process may have heard of an abort that the server has forgotten. */
  mayCountAsAborted = false;
  /** The rule of the message when it was claimed; undefined: it does not repeat. */
  rule: RepeatProgress | undefined = undefined;
  /** True if its rule was paused before the occurrence began. */
  mustSkip = false;
  /** By the server's clock, ms since 1970. */
  readonly dueAt: number;
  /** If it repeats: when it was claimed, by the server's clock, ms since 1970. */
  claimTime = 0;
  readonly attempt: number;
  /** ms of the world. */
  readonly claimedAt: number;
  /** As the server has it, or had it last, ms of the world. */
  leaseEnd: number;
  /** As its process has it, which counts from when it made the call, ms of the world. */
  assumedEnd: number;

  constructor(
    readonly token: string,
    readonly life: Life,
    readonly holding: Holding,
    { claimedAt, leaseEnd, assumedEnd }: Pick<Delivery, 'claimedAt' | 'leaseEnd' | 'assumedEnd'>,
  ) {
    this.claimedAt = claimedAt;
    this.leaseEnd = leaseEnd;
    this.assumedEnd = assumedEnd;
    this.dueAt = life.due;
    this.attempt = life.failedAttempts + 1;
    life.deliveries.push(this);
    holding.takeSlot();
  }

  get member(): Member {
    return this.holding.member;
  }

  /** It takes no slot of its process any more. */
  letGo(now: number): void {
    const { deliveries } = this.life;
    const at = deliveries.indexOf(this);
    if (at < 0) return;
    deliveries.splice(at, 1);
    this.holding.freeSlot(now);
  }
}

/** The messages of one queue that one process holds, as far as the server knows. */
export class Holding {
  /** Since when it has room for more, ms of the world; Infinity: it has none. */
  roomSince = -Infinity;
  #count = 0;
  /** The number of messages whose handlers run. */
  running = 0;
  /** The number of calls of handlers that run. */
  calls = 0;
  /** The time at which as many calls as may run at once last ran, so that others had to wait, ms of the world. */
  fullAt = -Infinity;

  constructor(
    readonly member: Member,
    readonly capacity: number,
    /** The number of calls of its handler that run at once. */
    readonly concurrency: number,
  ) {}

  takeSlot(): void {
    if (++this.#count >= this.capacity) this.roomSince = Infinity;
  }

  /** Its claim has left messages for the next one, although there is room. */
  claimsAgain(now: number): void {
    if (this.roomSince < now) this.roomSince = now;
  }

  freeSlot(now: number): void {
    if (--this.#count === this.capacity - 1) this.roomSince = now;
  }

  /** Its process may have let go of the message's holder: a failover may have the store hold it again. */
  find({ deliveries, holder }: Life, token: string): Delivery | undefined {
    const isMine = (each: Delivery) => each.holding === this && each.token === token;
    return deliveries.find(isMine) ?? (holder && isMine(holder) ? holder : undefined);
  }

  /**
   * The delivery that a handler starts with. Handlers do not know their claims: what was replaced may wait beside what has replaced it. If
   * both fit, the one that is still held is more likely, because a message that was lost or aborted hardly ever starts.
   */
  waiting({ deliveries }: Life, dueAt: number, attempt: number): Delivery | undefined {
    const waiting = [...deliveries].filter((each) => each.holding === this && !each.run);
    const fitting = waiting.filter((each) => each.dueAt === dueAt && each.attempt === attempt);
    return fitting.find((each) => each.loss === undefined) ?? fitting[0] ?? waiting[0];
  }
}
