import type { Events } from '../events/events.js';
import { OnceAMinute } from '../events/once-a-minute.js';
import type { Clock } from '../timing/clock.js';
import { nextTick, setImmediate } from '../timing/event-loop.js';
import type { Delivery, Lease } from './delivery.js';
import type { Pace } from './pace.js';

/** How long the handlers of a queue may be started in one turn of the event loop, ms. */
const SLICE = 5;

export interface StarterOptions {
  readonly queue: string;
  readonly clock: Clock;
  readonly events: Events;
  readonly pace: Pace;
  /** Its share of the time in which the loops of a queue start handlers, 0–1. */
  readonly share: () => number;
  /** Length of a lease, ms. */
  readonly lease: number;
  /** Starts a handler; it must not throw. */
  readonly start: (delivery: Delivery) => void;
  /** Immediately releases messages whose handlers were not started. */
  readonly release: (deliveries: readonly Delivery[]) => void;
  /** Sends everything that must be sent before timers fire. */
  readonly beforeGivingWay: () => void;
}

/** A claim with handlers still to be started. */
interface WaitingClaim {
  readonly lease: Lease;
  readonly deliveries: readonly Delivery[];
  /** After this instant of the monotonic clock, none of its handlers is started. */
  readonly startBy: number;
  next: number;
  begunAt: number | undefined;
}

/**
 * Starts handlers a few at a time and yields in between, so that I/O, outcomes, leases and timers get their turn even if
 * handlers work synchronously. Messages that it cannot start within a third of the lease are released, for others to handle.
 */
export class Starter {
  readonly #warning: OnceAMinute;
  #line: WaitingClaim[] = [];
  /** When the time slice of this turn of the event loop ends. */
  #sliceEnd: number | undefined;
  #stopped = false;
  /** How many messages were released since the last warning. */
  #released = 0;

  constructor(private readonly options: StarterOptions) {
    this.#warning = new OnceAMinute(options.clock);
  }

  /** @param answeredAt - when the answer to the claim arrived, on the monotonic clock */
  add(lease: Lease, deliveries: readonly Delivery[], answeredAt: number): void {
    if (deliveries.length === 0) return;
    const startBy = answeredAt + this.options.lease / 3;
    this.#line.push({ lease, deliveries, startBy, next: 0, begunAt: undefined });
    if (this.#stopped) this.stop();
  }

  /** Starts all handlers that were added; resolves once each is started or released. */
  async run(): Promise<void> {
    do {
      if (!this.#startSlice()) return;
      await this.#giveWay();
    } while (this.#line.length > 0);
  }

  /** Starts no more handlers; the waiting messages are released. */
  stop(): void {
    this.#stopped = true;
    const waiting = this.#line.flatMap(({ deliveries, next }) => deliveries.slice(next));
    this.#line = [];
    if (waiting.length > 0) this.options.release(waiting);
  }

  /** @returns whether the slice is used up */
  #startSlice(): boolean {
    const { clock } = this.options;
    let now = clock.monotonic();
    const sliceEnd = (this.#sliceEnd ??= this.#beginSlice(now));
    while (now < sliceEnd) {
      this.#releaseLate(now);
      const claim = this.#line[0];
      if (!claim) return false;
      claim.begunAt ??= now;
      this.#start(claim.deliveries[claim.next++]!);
      now = clock.monotonic();
      if (claim.next === claim.deliveries.length) this.#leaveLine(claim, now);
    }
    return true;
  }

  /** An immediate runs at the end of this turn of the event loop. */
  #beginSlice(now: number): number {
    setImmediate(() => (this.#sliceEnd = undefined));
    return now + SLICE * this.options.share();
  }

  #start(delivery: Delivery): void {
    // Its lease was lost while it waited.
    if (delivery.abortReason) this.options.release([delivery]);
    else this.options.start(delivery);
  }

  /** Runs before each start, so it allocates nothing unless a claim is late. */
  #releaseLate(now: number): void {
    let late: Delivery[] | undefined;
    for (const claim of this.#line) {
      if (now < claim.startBy && now < claim.lease.end) continue;
      this.#leaveLine(claim, now);
      late = [...(late ?? []), ...claim.deliveries.slice(claim.next)];
    }
    if (!late) return;
    this.options.release(late);
    this.#warn(late.length);
  }

  #leaveLine(claim: WaitingClaim, now: number): void {
    const { begunAt, next } = claim;
    this.#line = this.#line.filter((other) => other !== claim);
    if (begunAt !== undefined) this.options.pace.measure(next, now - begunAt);
  }

  /**
   * Promises run first, so the outcomes of the handlers just started are sent before a timer fires, however long the event
   * loop was blocked. Otherwise the transfer scheduler, whose timer may be due, would take their messages back with an attempt
   * spent.
   */
  async #giveWay(): Promise<void> {
    await new Promise<void>((resolve) => nextTick(resolve));
    this.#releaseLate(this.options.clock.monotonic());
    this.options.beforeGivingWay();
    await new Promise<void>((resolve) => setImmediate(resolve));
  }

  #warn(count: number): void {
    const { events, queue } = this.options;
    this.#released += count;
    if (!this.#warning.isDue) return;
    events.note('given-back', { queue, count: this.#released });
    this.#released = 0;
    this.#warning.reported();
  }
}
