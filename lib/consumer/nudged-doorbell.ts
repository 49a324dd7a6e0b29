import type { Doorbell } from '../store/consumer-store.js';
import type { Clock } from '../timing/clock.js';

/** How long after a nudge that led to nothing the next one counts, ms; it doubles each time. */
const FIRST_REST = 1000;

export interface NudgedDoorbellOptions {
  readonly doorbell: Doorbell;
  readonly clock: Clock;
  /** The longest rest after a nudge, ms. */
  readonly longestRest: number;
  /** Called for a ring that came while nobody waited: somebody else must hear it. */
  readonly passOn: () => void;
}

/**
 * A doorbell whose wait also ends with a nudge. A connection that died silently never rings, and takes a while to be noticed;
 * meanwhile the transfers of the same process see that messages stay ready.
 *
 * Messages also stay ready while a queue is paused or its rate is spent. So nudges that lead to nothing become rare.
 */
export class NudgedDoorbell {
  /** Whether somebody is at the doorbell. That goes on when a nudge has ended the wait for it. */
  #isListening = false;
  #waiter: { readonly resolve: (rung: boolean) => void; readonly reject: (error: Error) => void } | undefined;
  #rest = FIRST_REST;
  #restsUntil = -Infinity;

  constructor(private readonly options: NudgedDoorbellOptions) {}

  /** Waits for a ring, a nudge, {@link close}, or the end of the time. */
  wait(timeout: number): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
      if (!this.#isListening) void this.#listen(timeout);
    });
  }

  /** Messages have been ready for a while. */
  nudge(): void {
    const now = this.options.clock.monotonic();
    if (!this.#waiter || now < this.#restsUntil) return;
    this.#restsUntil = now + this.#rest;
    this.#rest = Math.min(2 * this.#rest, this.options.longestRest);
    this.#take()?.resolve(true);
  }

  /** Messages were found: nudges are worth their while. */
  found(): void {
    this.#rest = FIRST_REST;
    this.#restsUntil = -Infinity;
  }

  /** Until the next wait, rings are for others. */
  leave(): void {
    this.options.doorbell.leave();
  }

  close(): Promise<void> {
    return this.options.doorbell.close();
  }

  async #listen(timeout: number): Promise<void> {
    const { doorbell, passOn } = this.options;
    this.#isListening = true;
    try {
      const rung = await doorbell.wait(timeout);
      this.#isListening = false;
      const waiter = this.#take();
      if (waiter) waiter.resolve(rung);
      else if (rung) passOn();
    } catch (error) {
      this.#isListening = false;
      this.#take()?.reject(error as Error);
    }
  }

  #take() {
    const waiter = this.#waiter;
    this.#waiter = undefined;
    return waiter;
  }
}
