import type { CancelTimer, Clock } from '../../timing/clock.js';

interface Deadline {
  at: number;
  readonly sentAt: number;
  readonly patience: number;
  /** Undefined once the caller knows. */
  onLate: (() => void) | undefined;
}

/**
 * The deadlines for the answers on one connection. One timer serves them all and is left running when an answer arrives: a
 * timer for each command would cost about as much as sending the command.
 *
 * When a caller's time is up, only that call fails. Servers answer in order, so a connection counts as dead once it answers nobody.
 */
export class AnswerDeadlines {
  readonly #deadlines = new Set<Deadline>();
  #cancelTimer: CancelTimer | undefined;
  #firesAt = Infinity;
  /** When the last answer arrived. */
  #answeredAt = -Infinity;

  /** @param onSilent - called when an answer is due and none at all has arrived for `patience` ms */
  constructor(
    private readonly clock: Clock,
    private readonly onSilent: (patience: number) => void,
  ) {}

  /**
   * Calls `onLate` after `limit` ms, unless the returned function is called first, because the answer has arrived.
   *
   * @param patience - how long the connection may answer nobody while this answer is due, ms
   */
  add(limit: number, patience: number, onLate: () => void): () => void {
    const sentAt = this.clock.monotonic();
    const deadline: Deadline = { at: sentAt + limit, sentAt, patience, onLate };
    this.#deadlines.add(deadline);
    if (deadline.at < this.#firesAt) this.#arm(deadline.at);
    return () => {
      this.#answeredAt = this.clock.monotonic();
      this.#deadlines.delete(deadline);
    };
  }

  /** True while an answer is outstanding. */
  get areSet(): boolean {
    return this.#deadlines.size > 0;
  }

  /** How long the oldest unanswered command has been waiting, ms; 0 if there is none. */
  get longestWait(): number {
    for (const { sentAt } of this.#deadlines) return this.clock.monotonic() - sentAt;
    return 0;
  }

  /** Calls all pending `onLate` functions now. */
  endAll(): void {
    this.#disarm();
    const pending = [...this.#deadlines];
    this.#deadlines.clear();
    for (const { onLate } of pending) onLate?.();
  }

  #fire(): void {
    this.#disarm();
    const now = this.clock.monotonic();
    for (const deadline of [...this.#deadlines].filter(({ at }) => at <= now)) this.#pass(deadline, now);
    const next = Math.min(...[...this.#deadlines].map(({ at }) => at));
    if (next < this.#firesAt) this.#arm(next);
  }

  #pass(deadline: Deadline, now: number): void {
    deadline.onLate?.();
    deadline.onLate = undefined;
    deadline.at = Math.max(deadline.sentAt, this.#answeredAt) + deadline.patience;
    if (deadline.at > now) return;
    this.#deadlines.delete(deadline);
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
