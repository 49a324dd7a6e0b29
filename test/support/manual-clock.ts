import type { CancelTimer } from '../../lib/timing/clock.js';
import { VirtualClock } from '../../lib/testing/virtual-clock.js';

/** A clock that stands still until {@link advance} is called. */
export class ManualClock extends VirtualClock {
  #wallStep = 0;

  constructor(wall = Date.UTC(2030, 0, 1)) {
    super(wall);
  }

  override wall(): number {
    return super.wall() + this.#wallStep;
  }

  /** One millisecond at least, as `setTimeout` waits, so that a task that schedules itself cannot stop the time. */
  override schedule(task: () => void, delay: number): CancelTimer {
    return super.schedule(task, delay <= 0 ? 1 : delay);
  }

  /** Resolves after `ms` on this clock. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.schedule(resolve, ms);
    });
  }

  /**
   * Lets `ms` pass: timers fire in order, each at its own time, and promises settle before, between and after them.
   * `advance(0)` only lets promises settle.
   */
  async advance(ms: number): Promise<void> {
    const end = this.monotonic() + ms;
    await settlePromises();
    while (this.monotonic() + this.nextTimerIn <= end) {
      this.moveBy(this.nextTimerIn);
      this.fireNext();
      await settlePromises();
    }
    if (this.monotonic() < end) this.moveBy(end - this.monotonic());
  }

  /** Lets `ms` pass as code does that blocks the event loop: what should have fired meanwhile fires late. */
  block(ms: number): void {
    this.moveBy(ms);
  }

  /** Sets the wall clock forward, or back if negative, as an administrator or a time server does: no timer notices. */
  stepWall(ms: number): void {
    this.#wallStep += ms;
  }
}

/** Immediates run once no microtask is left. */
function settlePromises(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
