import type { CancelTimer, Clock } from '../../timing/clock.js';

/** How long a ring is kept for a consumer that is not waiting, ms: longer than most claims take. */
const RING_KEPT = 25;

interface Waiter {
  readonly until: number;
  readonly resolve: (rang: boolean) => void;
  readonly reject: (error: Error) => void;
}

/** The doorbell that has a place. */
export interface DoorbellHome {
  /** Called when a place begins to wait. */
  listenFor(place: DoorbellPlace): void;
  /** Lets go of a place for good, once nothing can be popped for it any more. */
  dismiss(place: DoorbellPlace): Promise<void>;
}

export interface DoorbellPlaceOptions {
  /** The list of the queue's tokens. */
  readonly key: string;
  readonly clock: Clock;
  /** Puts a token back for other consumers. */
  readonly passOn: () => Promise<void>;
}

/**
 * The place of one consumer at a doorbell that several share.
 *
 * A consumer that has been rung for will soon wait again, so its key stays in the calls that follow. A ring that comes in the
 * meantime ends its next wait at once, or is passed on if that wait does not begin soon.
 */
export class DoorbellPlace {
  readonly key: string;
  /** The doorbell that has it; a place may move to another one. */
  home!: DoorbellHome;
  readonly #options: DoorbellPlaceOptions;
  #waiter: Waiter | undefined;
  /** Whether rings are for others. */
  #isAway = true;
  #isListed = false;
  #isClosed = false;
  /** Ends the time for which a ring is kept; undefined if none is. */
  #cancelKeeping: CancelTimer | undefined;

  constructor(options: DoorbellPlaceOptions) {
    this.key = options.key;
    this.#options = options;
  }

  /** When the current wait ends, on the monotonic clock; `Infinity` if there is none. */
  get waitsUntil(): number {
    return this.#waiter?.until ?? Infinity;
  }

  get isWaiting(): boolean {
    return this.#waiter !== undefined;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Whether to listen for its queue. A place that is away is listed until a ring for it has been passed on. */
  get isListed(): boolean {
    return this.#isListed;
  }

  async wait(timeout: number): Promise<boolean> {
    this.endWait(false);
    if (this.#isClosed) return false;
    this.#isAway = false;
    this.#isListed = true;
    if (this.#takeRing()) return true;
    return new Promise((resolve, reject) => {
      this.#waiter = { until: this.#options.clock.monotonic() + timeout, resolve, reject };
      this.home.listenFor(this);
    });
  }

  leave(): void {
    this.#isAway = true;
    this.endWait(false);
    if (this.#takeRing()) this.#passOn();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.leave();
    await this.home.dismiss(this);
  }

  /** Called when a token of the queue has been taken. */
  ring(): void {
    if (this.#waiter) this.endWait(true);
    else if (this.#isAway) this.#passOn();
    else this.#cancelKeeping ??= this.#options.clock.schedule(() => this.leave(), RING_KEPT);
  }

  endWait(rang: boolean): void {
    this.#takeWaiter()?.resolve(rang);
  }

  failWait(error: Error): void {
    this.#takeWaiter()?.reject(error);
  }

  #passOn(): void {
    this.#isListed = false;
    // If it fails, the next transfer rings.
    this.#options.passOn().catch(() => undefined);
  }

  /** @returns whether a ring was kept */
  #takeRing(): boolean {
    const isKept = this.#cancelKeeping !== undefined;
    this.#cancelKeeping?.();
    this.#cancelKeeping = undefined;
    return isKept;
  }

  #takeWaiter(): Waiter | undefined {
    const waiter = this.#waiter;
    this.#waiter = undefined;
    return waiter;
  }
}
