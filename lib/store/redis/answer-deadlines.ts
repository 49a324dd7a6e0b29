import type { CancelTimer, Clock } from '../../timing/clock.js';

/** Removes a deadline because the answer has arrived. */
export type Answered = () => void;

interface Deadline {
  readonly at: number;
  readonly onLate: () => void;
}

/**
 * The deadlines for the answers on one connection. One timer serves them all and is left running when an answer arrives: a
 * timer for each command would cost about as much as sending the command.
 */
export class AnswerDeadlines {
  readonly #deadlines = new Set<Deadline>();
  #cancelTimer: CancelTimer | undefined;
  #firesAt = Infinity;

  constructor(private readonly clock: Clock) {}

  /** Calls `onLate` after `limit` ms, unless the returned function is called first. */
  add(limit: number, onLate: () => void): Answered {
    const deadline = { at: this.clock.monotonic() + limit, onLate };
    this.#deadlines.add(deadline);
    if (deadline.at < this.#firesAt) this.#arm(deadline.at);
    return () => this.#deadlines.delete(deadline);
  }

  /** Calls all pending `onLate` functions now. */
  endAll(): void {
    this.#disarm();
    this.#end(Infinity);
  }

  #fire(): void {
    this.#disarm();
    this.#end(this.clock.monotonic());
    const next = Math.min(...[...this.#deadlines].map(({ at }) => at));
    if (next < this.#firesAt) this.#arm(next);
  }

  #end(until: number): void {
    const late = [...this.#deadlines].filter(({ at }) => at <= until);
    for (const deadline of late) this.#deadlines.delete(deadline);
    for (const { onLate } of late) onLate();
  }

  #arm(at: number): void {
    this.#disarm();
    this.#firesAt = at;
    this.#cancelTimer = this.clock.schedule(() => this.#fire(), Math.max(0, at - this.clock.monotonic()));
  }

  #disarm(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#firesAt = Infinity;
  }
}
