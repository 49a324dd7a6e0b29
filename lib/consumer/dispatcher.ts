import type { Events } from '../events/events.js';
import { CountOnceAMinute } from '../timing/pauses.js';
import type { Outcome } from '../store/consumer-store.js';
import type { Clock } from '../timing/clock.js';
import { nextTick, setImmediate } from '../timing/event-loop.js';
import type { Activity } from './activity.js';
import type { Capacity } from './capacity.js';
import type { Claimer } from './claimer.js';
import type { Delivery, Lease } from './delivery.js';
import type { MessageRunner } from './message-runner.js';
import { RELEASE } from './outcomes.js';
import type { Settler } from './settler.js';

/** How long a queue's handlers may be started in one turn of the event loop, ms. */
const SLICE = 5;

interface WaitingClaim {
  readonly lease: Lease;
  readonly deliveries: readonly Delivery[];
  /** The time, on the monotonic clock, after which none of the claim's handlers starts. */
  readonly startBy: number;
  next: number;
  begunAt: number | undefined;
}

/**
 * Starts handlers a few at a time and yields in between, so that I/O, outcomes, leases and timers get their share even if handlers are
 * synchronous. Messages that cannot start within a third of the lease are released to other consumers.
 */
export class Dispatcher {
  readonly #releases: CountOnceAMinute;
  #waiting: WaitingClaim[] = [];
  /** When the time slice of this turn of the event loop ends. */
  #sliceEnd: number | undefined;
  #stopped = false;

  constructor(
    private readonly options: {
      readonly queue: string;
      readonly clock: Clock;
      readonly events: Events;
      /** The length of a lease, ms. */
      readonly lease: number;
      readonly runner: Pick<MessageRunner, 'run' | 'waitingCalls'>;
      readonly capacity: Pick<Capacity, 'slots' | 'isFull' | 'measure' | 'vacate'>;
      readonly settler: Pick<Settler, 'settle' | 'flush'>;
      readonly claimer: Pick<Claimer, 'releaseIfLate'>;
      readonly activity?: Activity | undefined;
    },
  ) {
    const { clock, events, queue } = options;
    this.#releases = new CountOnceAMinute(clock, (count) => events.note('released', { queue, count }));
  }

  /** @param answeredAt - when the claim was answered, on the monotonic clock */
  add(lease: Lease, deliveries: readonly Delivery[], answeredAt: number): void {
    if (deliveries.length === 0) return;
    const startBy = answeredAt + this.options.lease / 3;
    this.#waiting.push({ lease, deliveries, startBy, next: 0, begunAt: undefined });
    if (this.#stopped) this.stop();
  }

  /** Starts all added handlers. Resolves once each message is started or released. */
  async run(): Promise<void> {
    while (this.#startSlice()) {
      await this.#yield();
      if (this.#waiting.length === 0) break;
    }
    const { runner, capacity } = this.options;
    // A batch need not wait for more messages once every slot holds one.
    if (runner.waitingCalls && capacity.isFull) runner.waitingCalls.flush();
  }

  /** Starts no more handlers, and releases the waiting messages. */
  stop(): void {
    this.#stopped = true;
    const waiting = this.#waiting.flatMap(({ deliveries, next }) => deliveries.slice(next));
    this.#waiting = [];
    if (waiting.length > 0) this.#release(waiting);
  }

  /** Starts handlers until none is waiting or the time slice ends. Returns true if the slice has ended. */
  #startSlice(): boolean {
    const { clock, capacity } = this.options;
    let now = clock.monotonic();
    if (this.#sliceEnd === undefined) {
      this.#sliceEnd = now + SLICE / capacity.slots.loops;
      // An immediate runs at the end of this turn of the event loop.
      setImmediate(() => (this.#sliceEnd = undefined));
    }
    const sliceEnd = this.#sliceEnd;
    while (now < sliceEnd) {
      this.#releaseLate(now);
      const claim = this.#waiting[0];
      if (!claim) return false;
      claim.begunAt ??= now;
      this.#start(claim.deliveries[claim.next++]!, now);
      now = clock.monotonic();
      if (claim.next === claim.deliveries.length) this.#remove(claim, now);
    }
    return true;
  }

  #start(delivery: Delivery, now: number): void {
    // The message's signal was aborted while the message waited, for example because its lease was lost.
    if (delivery.abortReason) return this.#release([delivery]);
    const { activity, runner } = this.options;
    if (activity) activity.started(delivery.lease.storeNow(now) - delivery.dueAt);
    const outcome = runner.run(delivery);
    if (!(outcome instanceof Promise)) return this.#settle(delivery, outcome);
    delivery.startedAt = Math.trunc(now);
    void outcome.then((known) => {
      delivery.startedAt = -1;
      this.#settle(delivery, known);
    });
  }

  #settle(delivery: Delivery, outcome: Outcome): void {
    const { capacity, settler } = this.options;
    capacity.vacate();
    settler.settle(delivery, delivery.terms ? delivery.terms.complete(outcome) : outcome);
  }

  /** Releases messages whose handlers were not started, without waiting for the end of the turn. */
  #release(deliveries: readonly Delivery[]): void {
    for (const delivery of deliveries) this.#settle(delivery, RELEASE);
    this.options.settler.flush();
  }

  /** Releases messages of late claims. Runs often, so it allocates nothing unless a claim is late. */
  #releaseLate(now: number): void {
    let late: Delivery[] | undefined;
    for (const claim of this.#waiting) {
      if (now < claim.startBy && now < claim.lease.end) continue;
      this.#remove(claim, now);
      late = [...(late ?? []), ...claim.deliveries.slice(claim.next)];
    }
    if (!late) return;
    this.#release(late);
    this.#releases.add(late.length);
  }

  #remove(claim: WaitingClaim, now: number): void {
    const { begunAt, next } = claim;
    this.#waiting = this.#waiting.filter((other) => other !== claim);
    if (begunAt !== undefined) this.options.capacity.measure(next, now - begunAt);
  }

  /**
   * Yields to the event loop. Runs promise callbacks first, so that the outcomes of handlers just started are sent before a timer fires,
   * however long the loop was blocked. Otherwise the transfer scheduler might recover these handlers' messages and spend an attempt.
   */
  async #yield(): Promise<void> {
    const { clock, settler, claimer } = this.options;
    await new Promise<void>((resolve) => nextTick(resolve));
    this.#releaseLate(clock.monotonic());
    settler.flush();
    claimer.releaseIfLate();
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
