/** A pending {@link Clock.schedule}; calling it again after it fired does nothing. */
export type CancelTimer = () => void;

/**
 * The time of this process. It is injected so that tests can hold it still.
 *
 * Two scales on purpose: durations are measured on the monotonic one, which no administrator and no time server can
 * move; the wall clock is only the memory store's substitute for the clock of Redis.
 */
export interface Clock {
  /** Milliseconds since an arbitrary start, never going back. */
  monotonic(): number;
  /** Milliseconds since the epoch. */
  wall(): number;
  /** Runs `task` once after `delay` ms (at most {@link LONGEST_TIMER}; a longer wait is the caller's to split). */
  schedule(task: () => void, delay: number): CancelTimer;
  /** As {@link schedule}, but a wait of some milliseconds ends punctually, to a fraction of one, and never early. */
  schedulePunctually(task: () => void, delay: number): CancelTimer;
}

/** `setTimeout` overflows above this many milliseconds (24.8 days) and would fire at once. */
export const LONGEST_TIMER = 2 ** 31 - 1;

/**
 * A timer of Node.js counts in whole milliseconds, and fires up to two of them late. So timers bring a punctual wait to within
 * this many milliseconds, and turns of the event loop, which keep serving whatever comes, take up the rest.
 */
const LAST_TURNS = 0.25;

/**
 * Waits shorter than this many milliseconds are left to a timer, so that turns take up a tenth of the time at most. Who waits for
 * so little has much to do, and does more at once for coming a little later.
 */
const SHORTEST_PUNCTUAL = 10 * LAST_TURNS;

export const systemClock: Clock = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
  schedule(task, delay) {
    const timer = setTimeout(task, Math.min(Math.ceil(delay), LONGEST_TIMER));
    return () => clearTimeout(timer);
  },
  schedulePunctually(task, delay) {
    if (delay < SHORTEST_PUNCTUAL) return systemClock.schedule(task, delay);
    const at = performance.now() + delay;
    let cancelTimer: CancelTimer | undefined;
    let turn: NodeJS.Immediate | undefined;
    const wait = () => {
      const rest = at - performance.now();
      if (rest > LAST_TURNS) cancelTimer = systemClock.schedule(wait, Math.floor(rest));
      else turn = setImmediate(rest > 0 ? wait : task);
    };
    wait();
    return () => {
      cancelTimer?.();
      clearImmediate(turn);
    };
  },
};
