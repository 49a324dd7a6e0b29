import type { WakeSignal } from '../store/consumer-store.js';
import type { Clock } from '../timing/clock.js';

/** How long {@link WakeWait.wake} has no effect after a wake that found no messages, ms. Doubles each time. */
const FIRST_REST = 1000;

/**
 * Waits for the store's wake-up signal, or for {@link wake}. A connection that died silently brings no signal until its death is noticed,
 * but this process's transfers see that messages stay ready, and call `wake`. Messages also stay ready while a queue is paused or its rate
 * is used up, so {@link wake} has an effect less and less often while it finds nothing.
 */
export class WakeWait {
  /** True while the store's signal is awaited, even after {@link wake} has ended a wait. */
  #isListening = false;
  #waiter: { readonly resolve: (isWoken: boolean) => void; readonly reject: (error: Error) => void } | undefined;
  #rest = FIRST_REST;
  #restsUntil = -Infinity;

  constructor(
    private readonly options: {
      readonly signal: WakeSignal;
      readonly clock: Clock;
      /** The maximum time during which {@link WakeWait.wake} has no effect, ms. */
      readonly maxRest: number;
      /** Called for a signal that came while nobody was waiting, because another consumer must get it. */
      readonly passOn: () => void;
    },
  ) {}

  /** Waits for a signal, {@link wake}, {@link close}, or the timeout. Returns true if messages may be ready. */
  wait(timeout: number): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
      if (!this.#isListening) void this.#listen(timeout);
    });
  }

  /** Called when messages have been ready for a while. Ends the current wait, unless a recent call found no messages. */
  wake(): void {
    const now = this.options.clock.monotonic();
    if (!this.#waiter || now < this.#restsUntil) return;
    this.#restsUntil = now + this.#rest;
    this.#rest = Math.min(2 * this.#rest, this.options.maxRest);
    this.#take()?.resolve(true);
  }

  /** Ends the current wait, whatever recent calls have found. */
  interrupt(): void {
    this.found();
    this.wake();
  }

  /** Called when messages were found, so that {@link wake} is worthwhile again. */
  found(): void {
    this.#rest = FIRST_REST;
    this.#restsUntil = -Infinity;
  }

  /** Leaves signals to other consumers until the next wait. */
  leave(): void {
    this.options.signal.leave();
  }

  close(): Promise<void> {
    return this.options.signal.close();
  }

  async #listen(timeout: number): Promise<void> {
    const { signal, passOn } = this.options;
    this.#isListening = true;
    try {
      const isWoken = await signal.wait(timeout);
      this.#isListening = false;
      const waiter = this.#take();
      if (waiter) waiter.resolve(isWoken);
      else if (isWoken) passOn();
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
