const INTERVAL = 10;

/** Measures how late bare timers fire on this machine meanwhile: nothing that rests on timers can be better. */
export class TimerFloor {
  readonly #lateness: number[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor() {
    this.#arm();
  }

  /** @returns the lateness of the bare timers, in whole ms */
  stop(): { p99: number; most: number } {
    clearTimeout(this.#timer);
    const sorted = this.#lateness.sort((a, b) => a - b);
    const at = (share: number) => Math.ceil(sorted[Math.ceil(sorted.length * share) - 1] ?? 0);
    return { p99: at(0.99), most: at(1) };
  }

  #arm(): void {
    const due = performance.now() + INTERVAL;
    this.#timer = setTimeout(() => {
      this.#lateness.push(performance.now() - due);
      this.#arm();
    }, INTERVAL);
  }
}
