import type { Clock } from './clock.js';

/** Pauses that can be ended early. */
export class Pauses {
  readonly #ends = new Set<() => void>();

  constructor(private readonly clock: Clock) {}

  /** Resolves after `length` ms, or earlier if {@link end} is called. */
  take(length: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        cancelTimer();
        this.#ends.delete(end);
        resolve();
      };
      const cancelTimer = this.clock.schedule(end, length);
      this.#ends.add(end);
    });
  }

  /** Ends all pauses that are under way. */
  end(): void {
    for (const end of [...this.#ends]) end();
  }
}
