import { MAX_BATCH } from '../timing/turn-batcher.js';
import type { Pace } from './pace.js';
import type { Loan, Slots, Turn } from './slots.js';

/** A claim is limited to half of the slots, but never to fewer messages than this: small claims are not worth the call. */
const SMALLEST_HALF = 32;

/** What the consumer loops of a queue's partitions share. */
export interface SharedByLoops {
  /** One for each message that is claimed and not handled yet. With batches, calls are bounded by the runner's line instead. */
  readonly slots: Slots;
  /** How many loops there are now. */
  readonly loops: number;
}

export interface AdmissionOptions {
  readonly shared: SharedByLoops;
  readonly pace: Pick<Pace, 'limit'>;
  /** The most messages of one call of a handler. */
  readonly batch: number;
}

/**
 * Decides when a consumer loop may claim, and how many messages at most.
 *
 * A loop that has the slots for itself takes half of them at once, so the server prepares one half while the other is handled.
 * Loops that share slots ask for twice what they last found, up to half of all: a few when messages come one by one, so that
 * many loops can claim at once, and many when there is a backlog, so that each call is worth its price.
 */
export class Admission {
  readonly #slots: Slots;
  /** How many messages the last claim took. */
  #found = 0;
  /** Whether the last claim was not answered in time. */
  #wasOverdue = false;
  #turn: Turn | undefined;
  #endWait: () => void = () => undefined;

  constructor(private readonly options: AdmissionOptions) {
    this.#slots = options.shared.slots;
  }

  /** Whether it may claim now. */
  get isOpen(): boolean {
    return this.#turn ? this.#slots.free > 0 : this.#slots.areOpenFor(this.#wanted);
  }

  /** Whether it does not open before a handler ends. */
  get isFull(): boolean {
    return this.#slots.areFull;
  }

  /** How many messages it may claim in passing, with another call: never more than half of the slots are filled like that. */
  get inPassing(): number {
    const half = Math.floor(this.#slots.total / 2);
    return this.isOpen ? Math.min(this.#slots.free - half, this.#wanted) : 0;
  }

  /**
   * Waits in line until it is open, or {@link close}.
   *
   * @param onFull - called whenever it is full before that
   */
  awaitTurn(onFull?: () => void): Promise<void> {
    if (this.#turn) this.#slots.leave(this.#turn);
    return new Promise((resolve) => {
      this.#endWait = resolve;
      this.#turn = this.#slots.waitFor(this.#wanted, resolve, onFull);
    });
  }

  /** Waits until it is not full, or {@link close}. */
  awaitSlot(): Promise<void> {
    return new Promise((resolve) => {
      this.#endWait = resolve;
      this.#slots.whenNotFull(resolve);
    });
  }

  /** Leaves the line. */
  close(): void {
    if (this.#turn) this.#slots.leave(this.#turn);
    this.#turn = undefined;
    this.#endWait();
  }

  /** Borrows the slots that a claim may fill. No other loop can take them until {@link end}, unless that takes too long. */
  begin(limit = Math.min(this.#slots.free, this.#wanted)): Loan {
    const loan = this.#slots.lend(limit, this.#turn);
    this.#turn = undefined;
    return loan;
  }

  /**
   * The claim took this many messages, or failed.
   *
   * @returns how many of them have a slot
   */
  end(loan: Loan, found: number): number {
    this.#wasOverdue = loan.isOverdue;
    this.#found = found;
    return this.#slots.end(loan, found);
  }

  /** How many messages are worth a claim. */
  get #wanted(): number {
    const { shared, pace, batch } = this.options;
    const half = Math.ceil(this.#slots.total / 2);
    if (shared.loops === 1) return Math.min(Math.max(half, SMALLEST_HALF, batch), pace.limit, MAX_BATCH);
    // A server that hangs gets no more slots than it needs to show that it answers again.
    if (this.#wasOverdue) return 1;
    return Math.min(Math.max(Math.min(half, 2 * Math.max(1, this.#found)), batch), pace.limit, MAX_BATCH);
  }
}
