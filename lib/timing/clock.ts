/** Cancels a {@link Clock.schedule} task. Does nothing once the task has run. */
export type CancelTimer = () => void;

/**
 * The time in this process, injected so that tests can control it. Durations are measured on the monotonic clock, which no administrator or
 * time server can change. The wall clock only stands in for Redis' clock in the memory store.
 */
export interface Clock {
  /** Milliseconds since an arbitrary start. Never goes back. */
  monotonic(): number;
  /** Milliseconds since the epoch. */
  wall(): number;
  /** Runs `task` once after `delay` ms, at most {@link MAX_TIMER_DELAY}. Callers must split longer waits. */
  schedule(task: () => void, delay: number): CancelTimer;
  /** Like {@link schedule}, but accurate to a fraction of a millisecond, and never early. */
  schedulePunctually(task: () => void, delay: number): CancelTimer;
}

/** The maximum delay of `setTimeout`, ms (24.8 days). It overflows above that, and fires at once. */
export const MAX_TIMER_DELAY = 2 ** 31 - 1;

/** How long before its end a punctual wait changes to turns of the event loop, ms. Timers count whole ms and fire up to 2 ms late. */
const LAST_TURNS = 0.25;

/** Minimum wait, ms, that ends in such turns, which take at most a tenth of it. A busy queue gains from larger transfers anyway. */
const MIN_PUNCTUAL = 10 * LAST_TURNS;

export const systemClock: Clock = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
  schedule(task, delay) {
    const timer = setTimeout(task, Math.min(Math.ceil(delay), MAX_TIMER_DELAY));
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

/** Returns a clock that starts at the wall clock and continues with the monotonic one, so setting the wall clock does not change it. */
export function steadyClock(clock: Pick<Clock, 'wall' | 'monotonic'>): () => number {
  const epoch = clock.wall() - clock.monotonic();
  return () => epoch + clock.monotonic();
}

/** How long an answer about the clock stays valid, ms. The clock may drift or be set afterwards. */
const MAX_VALID = 60_000;

/** When a question was sent and its answer arrived, on the monotonic clock. The remote clock was read in between. */
interface RoundTrip {
  readonly sentAt: number;
  readonly receivedAt: number;
}

/** The maximum lateness of what is planned by a remote clock, ms. */
const MAX_LATENESS = 10;

/**
 * Estimates when a remote clock was read for an answer, on the monotonic clock: halfway through a short round trip. A long one may be long
 * in either direction, so the clock is assumed to have been read early: planning too early costs a question, too late a delay.
 */
export function readingTime({ sentAt, receivedAt }: RoundTrip): number {
  return sentAt + Math.min(MAX_LATENESS, (receivedAt - sentAt) / 2);
}

/**
 * Estimates a remote clock, such as a server's, from answers that include its time. Assumes that the clock was read as soon as the question
 * was sent, so the estimate is never behind.
 */
export class RemoteClock {
  /** The maximum lead of the remote clock over this process's monotonic clock, ms; undefined if unknown. */
  #offset: number | undefined;
  #validUntil = -Infinity;

  /** @param maxRoundTrip - the maximum round trip, ms, of an answer that is precise enough */
  constructor(private readonly maxRoundTrip: number) {}

  /** Learns from an answer with the clock's time, ms since the epoch. Slow answers that agree with an earlier estimate change nothing. */
  learn(shown: number, { sentAt, receivedAt }: RoundTrip): void {
    const least = shown - receivedAt;
    const most = shown - sentAt;
    const isWide = receivedAt - sentAt > this.maxRoundTrip;
    const isKept = this.#offset !== undefined && least <= this.#offset && this.#offset <= most;
    if (!isKept) this.#offset = most;
    if (!isWide) this.#validUntil = sentAt + MAX_VALID;
    else if (!isKept) this.#validUntil = sentAt;
  }

  isStale(now: number): boolean {
    return now > this.#validUntil;
  }

  /** Returns the latest time that the clock may show at a time on the monotonic clock; 0 if unknown. */
  at(monotonic: number): number {
    return this.#offset === undefined ? 0 : this.#offset + monotonic;
  }

  /**
   * Returns when the clock shows a time, on the monotonic clock: too early by less than a round trip, or too late by a few ms. Infinity if
   * too little is known at `now`.
   */
  timeOf(shown: number, now: number): number {
    return this.#offset === undefined || this.isStale(now) ? Infinity : shown - this.#offset + MAX_LATENESS;
  }
}
