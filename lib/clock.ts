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
}

/** `setTimeout` overflows above this many milliseconds (24.8 days) and would fire at once. */
export const LONGEST_TIMER = 2 ** 31 - 1;

export const systemClock: Clock = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
  schedule(task, delay) {
    const timer = setTimeout(task, Math.min(Math.ceil(delay), LONGEST_TIMER));
    return () => clearTimeout(timer);
  },
};
