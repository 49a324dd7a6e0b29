import { MAX_BATCH } from '../message/page.js';
import type { CancelTimer, Clock } from '../timing/clock.js';

/** How long a reservation keeps slots from other loops, ms. Claims take far less, and a hanging server must not block all loops. */
const MAX_RESERVATION = 100;

/** A claim is limited to half of the slots, but never to fewer messages than this, because small claims are not worth a call. */
const MIN_HALF = 32;

/** The time within which all handlers of one claim should start, ms. */
const TARGET = 100;

interface Reservation {
  readonly count: number;
  /** When the slots were reserved, on the monotonic clock. */
  readonly since: number;
  /** True once the claim has taken so long that other loops may use its slots. */
  isOverdue: boolean;
}

/** A loop that waits for slots. */
interface Waiter {
  readonly count: number;
  /** Called when the loop may reserve slots. No other loop is called until this one has reserved some or stopped waiting. */
  readonly call: () => void;
  /** Called whenever every slot holds a message while the loop is still waiting. */
  readonly onFull: () => void;
}

/**
 * The slots of a queue in this process, shared by its partitions' consumer loops. A message occupies a slot from its claim until its
 * handler is done. `ConcurrentCalls` limits the calls of batch handlers.
 */
export class Slots {
  /** The number of slots without a message or a reservation. */
  free: number;
  /** Reservations that are not overdue, oldest first. */
  readonly reservations = new Set<Reservation>();
  readonly waiters: Waiter[] = [];
  /** The waiter that has been called, until it reserves slots or stops waiting. */
  called: Waiter | undefined;
  readonly onNotFull: (() => void)[] = [];
  cancelTimer: CancelTimer | undefined;

  /** @param loops - the current number of consumer loops that share the slots */
  constructor(
    readonly total: number,
    public loops: number,
  ) {
    this.free = total;
  }

  /** The number of slots that hold a message. */
  get used(): number {
    let used = this.total - this.free;
    for (const { count } of this.reservations) used -= count;
    return used;
  }
}

/**
 * Decides how many messages a consumer loop may claim now.
 *
 * A loop with its own slots claims half of them at once, so the server prepares one half while the other is handled. Loops that share slots
 * ask for twice what they last found, up to half of all slots: few when messages arrive one by one, because many loops can then claim at
 * once; many when there is a backlog, because a call must be worth its cost. Loops that find too few free slots wait their turn.
 *
 * Also measures how quickly handlers start: synchronous handlers delay the messages behind them, while another process may be idle.
 */
export class Capacity {
  readonly slots: Slots;
  /** An estimate of how many handlers can start within {@link TARGET} ms. Infinity until a claim's handlers are slow to start. */
  #startable = Infinity;
  #isQuick = true;
  /** The number of messages that the last claim took. */
  #found = 0;
  /** True if the last claim was not answered in time. */
  #wasOverdue = false;
  #waiter: Waiter | undefined;
  #endWait: () => void = () => undefined;

  constructor(
    private readonly options: {
      readonly slots: Slots;
      readonly clock: Pick<Clock, 'monotonic' | 'schedule'>;
      /** The maximum number of messages per handler call. */
      readonly batch: number;
    },
  ) {
    this.slots = options.slots;
  }

  /** True if a claim may be sent now. */
  get isOpen(): boolean {
    const { free, called, waiters } = this.slots;
    if (this.#waiter) return free > 0;
    return called === undefined && waiters.length === 0 && this.#areWorth(this.#wanted);
  }

  /** True if every slot holds a message, so no slot becomes free before a handler ends. */
  get isFull(): boolean {
    return this.slots.free === 0 && this.slots.reservations.size === 0;
  }

  /**
   * Returns how many messages a transfer may claim in the same call, so that half of all slots stay free. If below 1, it must not claim.
   *
   * @param taken - how many messages the transfers just before have claimed: at most half of all slots together
   */
  besidesTransfer(taken: number): number {
    const { free, total } = this.slots;
    const kept = Math.floor(total / 2);
    const spare = Math.min(free, total - taken) - kept;
    return spare > 0 && this.isOpen ? Math.min(spare, this.#wanted) : 0;
  }

  /** True if the last handlers started so quickly that the next claim need not wait for them. */
  get isQuick(): boolean {
    return this.#isQuick;
  }

  /** Records that `count` handlers of a claim were started in `took` ms. */
  measure(count: number, took: number): void {
    const inTime = Math.floor((count * TARGET) / took);
    this.#isQuick = took <= TARGET;
    // A slow start lowers the limit at once. A quick start raises it to the measured number, but at most doubles it.
    this.#startable = this.#isQuick
      ? Math.max(this.#startable, Math.min(this.#startable * 2, inTime))
      : Math.max(1, inTime);
  }

  /** Reserves slots for a claim. No other loop can take them until {@link end} is called or the claim is overdue. */
  reserve(count = Math.min(this.slots.free, this.#wanted)): Reservation {
    const reservation = { count, since: this.options.clock.monotonic(), isOverdue: false };
    this.slots.free -= count;
    this.slots.reservations.add(reservation);
    if (this.#waiter) this.#leave();
    return reservation;
  }

  /** Ends the reservation of a claim that took `found` messages. Returns how many have slots: all, unless the claim was overdue. */
  end(reservation: Reservation, found: number): number {
    const slots = this.slots;
    this.#wasOverdue = reservation.isOverdue;
    this.#found = found;
    const granted = Math.min(found, reservation.isOverdue ? slots.free : reservation.count);
    slots.free -= granted;
    if (slots.reservations.delete(reservation)) slots.free += reservation.count;
    if (slots.cancelTimer && slots.reservations.size === 0) this.#stopTimer();
    this.#changed();
    return granted;
  }

  vacate(): void {
    this.slots.free++;
    this.#changed();
  }

  /** Waits until a claim is worth a round trip, or until {@link close}. Calls `onFull` whenever every slot holds a message meanwhile. */
  untilOpen(onFull: () => void = () => undefined): Promise<void> {
    if (this.#waiter) this.#leave();
    return new Promise((call) => {
      this.#endWait = call;
      this.#waiter = { count: this.#wanted, call, onFull };
      this.slots.waiters.push(this.#waiter);
      this.#changed();
    });
  }

  /** Waits until some slot holds no message, or until {@link close}. */
  untilNotFull(): Promise<void> {
    return new Promise((resolve) => {
      this.#endWait = resolve;
      this.slots.onNotFull.push(resolve);
      this.#changed();
    });
  }

  /** Ends the current wait. */
  close(): void {
    if (this.#waiter) this.#leave();
    this.#endWait();
  }

  /** The number of messages that makes a claim worth a round trip. */
  get #wanted(): number {
    const { total, loops } = this.slots;
    const most = Math.min(this.#startable, MAX_BATCH);
    const half = Math.ceil(total / 2);
    if (loops === 1) return Math.min(Math.max(half, MIN_HALF, this.options.batch), most);
    // One slot is enough to find out whether a server that hung is answering again.
    if (this.#wasOverdue) return 1;
    return Math.min(Math.max(Math.min(half, 2 * Math.max(1, this.#found)), this.options.batch), most);
  }

  /** True if a claim of `count` messages should not wait for more free slots: enough are free, or pending claims could not free enough. */
  #areWorth(count: number): boolean {
    const { free, reservations } = this.slots;
    if (free === 0 || free >= count) return free > 0;
    let most = free;
    for (const reservation of reservations) most += reservation.count;
    return most < count;
  }

  #leave(): void {
    const slots = this.slots;
    if (slots.called === this.#waiter) slots.called = undefined;
    const place = slots.waiters.indexOf(this.#waiter!);
    if (place >= 0) slots.waiters.splice(place, 1);
    this.#waiter = undefined;
    this.#changed();
  }

  /** Lets the next waiter claim, if enough slots are free to make the claim worth a round trip. */
  #changed(): void {
    const { waiters, onNotFull, called } = this.slots;
    if (onNotFull.length > 0 && !this.isFull) for (const resume of onNotFull.splice(0)) resume();
    const first = waiters[0];
    if (!first) return;
    if (this.isFull) return waiters.forEach(({ onFull }) => onFull());
    if (called) return;
    if (!this.#areWorth(first.count)) return this.#awaitOverdue();
    waiters.shift();
    this.slots.called = first;
    first.call();
  }

  /** Sets a timer for the oldest reservation. Called only while a loop waits, because nothing else needs overdue slots. */
  #awaitOverdue(): void {
    const slots = this.slots;
    const [oldest] = slots.reservations;
    if (!oldest || slots.cancelTimer) return;
    const { clock } = this.options;
    const rest = oldest.since + MAX_RESERVATION - clock.monotonic();
    slots.cancelTimer = clock.schedule(() => this.#takeBackOverdue(), Math.max(0, rest));
  }

  #stopTimer(): void {
    this.slots.cancelTimer?.();
    this.slots.cancelTimer = undefined;
  }

  #takeBackOverdue(): void {
    this.#stopTimer();
    const slots = this.slots;
    const now = this.options.clock.monotonic();
    for (const reservation of slots.reservations) {
      if (now < reservation.since + MAX_RESERVATION) break;
      reservation.isOverdue = true;
      slots.reservations.delete(reservation);
      slots.free += reservation.count;
    }
    this.#changed();
  }
}
