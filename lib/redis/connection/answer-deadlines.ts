import type { CancelTimer, Clock } from '../../timing/clock.js';

/** The deadline of an answer. Times are on the monotonic clock. */
export interface Deadline {
  at: number;
  readonly sentAt: number;
  /** Maximum time without any answer on the connection while this answer is due, ms. */
  readonly patience: number;
  /** Called when the time is up; undefined once the caller has been told. */
  onLate: (() => void) | undefined;
}

/**
 * The deadlines for answers on one connection. One timer serves all of them and keeps running when an answer arrives, because setting a
 * timer for each command would cost about as much as sending the command. When a call's time is up, only that call fails. Servers answer in
 * order, so a connection on which no call is answered counts as dead.
 */
export class AnswerDeadlines {
  readonly pending = new Set<Deadline>();
  #cancelTimer: CancelTimer | undefined;
  #firesAt = Infinity;
  #answeredAt = -Infinity;

  /** @param onSilent - called when an answer is due and none has arrived for `patience` ms */
  constructor(
    private readonly clock: Clock,
    private readonly onSilent: (patience: number) => void,
  ) {}

  add(deadline: Deadline): void {
    this.pending.add(deadline);
    if (deadline.at < this.#firesAt) this.#arm(deadline.at);
  }

  answered(deadline: Deadline): void {
    this.#answeredAt = this.clock.monotonic();
    this.pending.delete(deadline);
  }

  /** How long the oldest unanswered command has been waiting, ms; 0 if there is none. */
  get maxWait(): number {
    for (const { sentAt } of this.pending) return this.clock.monotonic() - sentAt;
    return 0;
  }

  endAll(): void {
    this.#disarm();
    const pending = [...this.pending];
    this.pending.clear();
    for (const { onLate } of pending) onLate?.();
  }

  #fire(): void {
    this.#disarm();
    const now = this.clock.monotonic();
    for (const deadline of [...this.pending].filter(({ at }) => at <= now)) this.#pass(deadline, now);
    const next = Math.min(...[...this.pending].map(({ at }) => at));
    if (next < this.#firesAt) this.#arm(next);
  }

  #pass(deadline: Deadline, now: number): void {
    deadline.onLate?.();
    deadline.onLate = undefined;
    deadline.at = Math.max(deadline.sentAt, this.#answeredAt) + deadline.patience;
    if (deadline.at > now) return;
    this.pending.delete(deadline);
    this.onSilent(deadline.patience);
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
