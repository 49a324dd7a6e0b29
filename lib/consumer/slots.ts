import type { CancelTimer, Clock } from '../timing/clock.js';

/**
 * How long a claim keeps slots from the other loops, ms. An answer takes far less; a server that hangs must not keep the
 * messages of other servers waiting.
 */
const LONGEST_LOAN = 100;

/** Slots that a claim may fill: nobody else can, until it is answered or has taken too long. */
export interface Loan {
  readonly count: number;
  /** On the monotonic clock. */
  readonly since: number;
  /** Whether the claim has taken so long that its slots went back. */
  isOverdue: boolean;
}

/** A place in the line for slots. */
export interface Turn {
  readonly count: number;
  /** Called when its turn comes. Nobody else can borrow until it has borrowed, or left. */
  readonly come: () => void;
  /** Called whenever every slot has a message before that. */
  readonly onFull: () => void;
}

/**
 * How many messages of a queue a process may handle at once, shared by the consumer loops of its partitions. A loop borrows the
 * slots that its claim may fill, and returns those that the claim did not fill. Loops that find too few wait in line.
 */
export class Slots {
  #free: number;
  /** Loans that are not overdue, oldest first. */
  readonly #lent = new Set<Loan>();
  readonly #line: Turn[] = [];
  /** The one whose turn has come, until it borrows. */
  #called: Turn | undefined;
  #onNotFull: (() => void)[] = [];
  #cancelTimer: CancelTimer | undefined;

  constructor(
    readonly total: number,
    private readonly clock: Pick<Clock, 'monotonic' | 'schedule'>,
  ) {
    this.#free = total;
  }

  get free(): number {
    return this.#free;
  }

  /** Whether every slot has a message, so that none becomes free before a handler ends. */
  get areFull(): boolean {
    return this.#free === 0 && this.#lent.size === 0;
  }

  /** Whether one that would like to borrow so many slots need not wait in line. */
  areOpenFor(count: number): boolean {
    return this.#called === undefined && this.#line.length === 0 && this.#areWorth(count);
  }

  /** @param turn - of the borrower, if it had to wait */
  lend(count: number, turn?: Turn): Loan {
    this.#free -= count;
    const loan = { count, since: this.clock.monotonic(), isOverdue: false };
    this.#lent.add(loan);
    if (turn) this.leave(turn);
    return loan;
  }

  /**
   * The claim of a loan took this many messages, or failed.
   *
   * @returns how many of them have a slot; fewer than `filled` only if the loan was overdue
   */
  end(loan: Loan, filled: number): number {
    const granted = Math.min(filled, loan.isOverdue ? this.#free : loan.count);
    this.#free -= granted;
    if (this.#lent.delete(loan)) this.#free += loan.count;
    if (this.#lent.size === 0) this.#stopWatching();
    this.#changed();
    return granted;
  }

  /** A message does not need its slot any more. */
  vacate(): void {
    this.#free++;
    this.#changed();
  }

  waitFor(count: number, come: () => void, onFull: () => void = () => undefined): Turn {
    const turn = { count, come, onFull };
    this.#line.push(turn);
    this.#changed();
    return turn;
  }

  /** Gives a turn up, whether it has come or not. */
  leave(turn: Turn): void {
    if (this.#called === turn) this.#called = undefined;
    const place = this.#line.indexOf(turn);
    if (place >= 0) this.#line.splice(place, 1);
    this.#changed();
  }

  /** Calls `task` once, when they are not full. */
  whenNotFull(task: () => void): void {
    this.#onNotFull.push(task);
    this.#changed();
  }

  /**
   * Whether a claim of so many messages is worth the call now: there are as many free slots, or no claim that is under way could
   * return enough. A claim costs the server the same however few messages it takes.
   */
  #areWorth(count: number): boolean {
    let most = this.#free;
    for (const loan of this.#lent) most += loan.count;
    return this.#free > 0 && (this.#free >= count || most < count);
  }

  #changed(): void {
    if (this.#onNotFull.length > 0 && !this.areFull) for (const task of this.#onNotFull.splice(0)) task();
    const first = this.#line[0];
    if (!first) return;
    if (this.areFull) return this.#line.forEach(({ onFull }) => onFull());
    if (this.#called) return;
    if (!this.#areWorth(first.count)) return this.#watchOldest();
    this.#line.shift();
    this.#called = first;
    first.come();
  }

  /** Only somebody who waits needs what is overdue. */
  #watchOldest(): void {
    const [oldest] = this.#lent;
    if (!oldest || this.#cancelTimer) return;
    const rest = oldest.since + LONGEST_LOAN - this.clock.monotonic();
    this.#cancelTimer = this.clock.schedule(() => this.#takeBackOverdue(), Math.max(0, rest));
  }

  #stopWatching(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #takeBackOverdue(): void {
    this.#stopWatching();
    const now = this.clock.monotonic();
    for (const loan of this.#lent) {
      if (now < loan.since + LONGEST_LOAN) break;
      loan.isOverdue = true;
      this.#lent.delete(loan);
      this.#free += loan.count;
    }
    this.#changed();
  }
}
