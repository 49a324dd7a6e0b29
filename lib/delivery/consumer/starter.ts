import type { Events } from '../../events/events.js';
import { OnceAMinute } from '../../events/once-a-minute.js';
import type { Clock } from '../../timing/clock.js';
import { nextTick, setImmediate } from '../../timing/event-loop.js';
import type { HeldDelivery } from './delivery.js';
import type { LeaseKeeper } from './lease-keeper.js';
import type { Pace } from './pace.js';

/** How long the handlers of a queue may be started in one turn of the event loop, ms. */
const SLICE = 5;

export interface StarterOptions {
  readonly queue: string;
  readonly clock: Clock;
  readonly events: Events;
  readonly keeper: Pick<LeaseKeeper, 'endOf'>;
  readonly pace: Pace;
  /** Its share of the time in which the loops of a queue start handlers, 0–1. */
  readonly share: () => number;
  /** Length of a lease, ms. */
  readonly lease: number;
  /** Starts a handler; it must not throw. */
  readonly start: (held: HeldDelivery) => void;
  /** Immediately gives back messages whose handlers were not started. */
  readonly giveBack: (deliveries: readonly HeldDelivery[]) => void;
  /** Sends everything that must be sent before timers fire. */
  readonly beforeGivingWay: () => void;
}

/** A claim with handlers still to be started. */
interface Waiting {
  readonly token: string;
  readonly deliveries: readonly HeldDelivery[];
  /** After this instant of the monotonic clock, none of its handlers is started. */
  readonly startBy: number;
  next: number;
  begunAt: number | undefined;
}

/**
 * Starts handlers a few at a time and yields in between, so that I/O, outcomes, leases and timers get their turn even if
 * handlers work synchronously. Messages that it cannot start within a third of the lease go back, for others to handle.
 */
export class Starter {
  readonly #options: StarterOptions;
  readonly #warning: OnceAMinute;
  #line: Waiting[] = [];
  /** When the time slice of this turn of the event loop ends. */
  #sliceEnd: number | undefined;
  #stopped = false;
  #givenBack = 0;

  constructor(options: StarterOptions) {
    this.#options = options;
    this.#warning = new OnceAMinute(options.clock);
  }

  /** @param answeredAt - when the answer to the claim arrived, on the monotonic clock */
  add(token: string, deliveries: readonly HeldDelivery[], answeredAt: number): void {
    if (deliveries.length === 0) return;
    this.#line.push({ token, deliveries, startBy: answeredAt + this.#options.lease / 3, next: 0, begunAt: undefined });
    if (this.#stopped) this.stop();
  }

  /** Starts all handlers that were added; resolves once each is started or given back. */
  async run(): Promise<void> {
    do {
      if (!this.#startSlice()) return;
      await this.#giveWay();
    } while (this.#line.length > 0);
  }

  /** Starts no more handlers; the waiting messages go back. */
  stop(): void {
    this.#stopped = true;
    const waiting = this.#line.flatMap(({ deliveries, next }) => deliveries.slice(next));
    this.#line = [];
    if (waiting.length > 0) this.#options.giveBack(waiting);
  }

  /** @returns whether the slice is used up */
  #startSlice(): boolean {
    const { clock } = this.#options;
    let now = clock.monotonic();
    const sliceEnd = (this.#sliceEnd ??= this.#beginSlice(now));
    while (now < sliceEnd) {
      this.#giveBackLate(now);
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
    return now + SLICE * this.#options.share();
  }

  #start(held: HeldDelivery): void {
    // Its lease was lost while it waited.
    if (held.delivery.abortReason) this.#options.giveBack([held]);
    else this.#options.start(held);
  }

  #giveBackLate(now: number): void {
    const late = this.#line.filter((claim) => now >= this.#deadlineOf(claim));
    if (late.length === 0) return;
    for (const claim of late) this.#leaveLine(claim, now);
    const deliveries = late.flatMap(({ deliveries, next }) => deliveries.slice(next));
    this.#options.giveBack(deliveries);
    this.#tell(deliveries.length);
  }

  #deadlineOf({ token, startBy }: Waiting): number {
    return Math.min(startBy, this.#options.keeper.endOf(token));
  }

  #leaveLine(claim: Waiting, now: number): void {
    const { begunAt, next } = claim;
    this.#line = this.#line.filter((other) => other !== claim);
    if (begunAt !== undefined) this.#options.pace.measure(next, now - begunAt);
  }

  /**
   * Promises run first, so the outcomes of the handlers just started are sent before a timer fires, however long the event
   * loop was blocked. Otherwise the transfer scheduler, whose timer may be due, would take their messages back with an attempt
   * spent.
   */
  async #giveWay(): Promise<void> {
    await new Promise<void>((resolve) => nextTick(resolve));
    this.#giveBackLate(this.#options.clock.monotonic());
    this.#options.beforeGivingWay();
    await new Promise<void>((resolve) => setImmediate(resolve));
  }

  #tell(count: number): void {
    const { events, queue } = this.#options;
    this.#givenBack += count;
    if (!this.#warning.isDue) return;
    events.note('given-back', { queue, count: this.#givenBack });
    this.#givenBack = 0;
    this.#warning.reported();
  }
}
