/** Cancels a pending {@link Clock.schedule}; does nothing once its task has run. */
export type CancelTimer = () => void;

/**
 * The time of this process, injected so that tests can control it. Durations are measured on the monotonic clock, which no administrator
 * and no time server can change. The wall clock only replaces the clock of Redis for the memory store.
 */
export interface Clock {
  /** Milliseconds since an arbitrary start, never going back. */
  monotonic(): number;
  /** Milliseconds since the epoch. */
  wall(): number;
  /** Runs `task` once after `delay` ms, at most {@link MAX_TIMER}: callers must split longer waits. */
  schedule(task: () => void, delay: number): CancelTimer;
  /** Like {@link schedule}, but accurate to a fraction of a millisecond, and never early. */
  schedulePunctually(task: () => void, delay: number): CancelTimer;
}

/** Above this many milliseconds (24.8 days), `setTimeout` overflows and fires at once. */
export const MAX_TIMER = 2 ** 31 - 1;

/** The end of a punctual wait, ms, in turns of the event loop: timers of Node.js count in whole ms and fire up to two of them late. */
const LAST_TURNS = 0.25;

/** Shorter waits, ms, use a plain timer: such turns take at most a tenth of the time, and a busy queue gains from larger transfers. */
const MIN_PUNCTUAL = 10 * LAST_TURNS;

export const systemClock: Clock = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
  schedule(task, delay) {
    const timer = setTimeout(task, Math.min(Math.ceil(delay), MAX_TIMER));
    return () => clearTimeout(timer);
  },
  schedulePunctually(task, delay) {
    if (delay < MIN_PUNCTUAL) return systemClock.schedule(task, delay);
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
