/** A task that never runs twice at once. All requests during a run are served by one more run after it. */
export class CoalescedTask<Result> {
  #running: Promise<void> | undefined;
  /** Set before a run begins, because the run may itself make a request before it waits for anything. */
  #isRunning = false;
  #isRequested = false;

  /**
   * @param run - the task; it must not reject
   * @param onIdle - called with the last run's result once no further run is requested
   */
  constructor(
    private readonly run: () => Promise<Result>,
    private readonly onIdle: (last: Result) => void,
  ) {}

  get isRunning(): boolean {
    return this.#isRunning;
  }

  request(): void {
    this.#isRequested = true;
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#running = this.#runUntilIdle();
  }

  /** Withdraws any request that no run has served yet, and waits for the current run. The caller makes no more requests. */
  async stop(): Promise<void> {
    this.#isRequested = false;
    await this.#running;
  }

  async #runUntilIdle(): Promise<void> {
    let last: Result;
    do {
      this.#isRequested = false;
      last = await this.run();
    } while (this.#isRequested);
    // Done in the same step as the last check: a request in between would be lost.
    this.#isRunning = false;
    this.onIdle(last);
  }
}
