import { type CancelTimer, type Clock, LONGEST_TIMER } from '../timing/clock.js';
import { failurePause } from '../timing/failure-pause.js';
import type { Lanes } from './lanes.js';

/** What serves one queue while it is awake. */
export interface MemberWorker {
  readonly held: number;
  /** Whether there is nothing to do for some time. */
  readonly isQuiet: boolean;
  start(): void;
  stopClaiming(): Promise<void>;
  drained(): Promise<void>;
  abortHandlers(): void;
  abandon(): void;
}

/** What there is to do in a queue, once what was due is ready. */
export interface Prospect {
  /** Messages that are ready. */
  readonly ready: number;
  /** Milliseconds until something falls due, or a lease ends; null: nothing will. */
  readonly nextIn: number | null;
}

/** How the members of a family get at their queues. */
export interface MemberSource {
  /**
   * Makes ready what is due in a queue, and tells what there is to do.
   *
   * @throws what the store throws
   */
  look(queue: string): Promise<Prospect>;
  /** Makes what serves a queue. */
  open(queue: string): MemberWorker;
  /** Called when that has stopped, and may be opened anew. */
  closed(queue: string): void;
}

export interface FamilyMemberParts {
  readonly source: MemberSource;
  readonly clock: Clock;
  readonly lanes: Lanes;
  readonly onLooked: () => void;
  readonly onLookFailed: (error: unknown) => void;
  /** The queue is empty, but for dead letters. */
  readonly onEmpty: () => void;
}

/** How often a worker is asked whether it is quiet, ms. */
const REST_INTERVAL = 5000;

/** How long a worker has to be quiet before it is stopped, ms. */
const QUIET_TIME = 10_000;

/**
 * One queue of a family that holds messages.
 *
 * It is *asleep* while nothing is ready: then it is a timer, which looks when something falls due. It is *awake* from when a look
 * has found something ready: then it has a worker, which does everything else, until that has been quiet for a while. What happens
 * next is always decided by a look, so whatever was missed before does not matter.
 */
export class FamilyMember {
  /** Undefined: asleep. */
  #worker: MemberWorker | undefined;
  #looking: Promise<number | undefined> | undefined;
  /** When something falls due, on the monotonic clock, as far as is known. During a look: what is announced meanwhile. */
  #nextAt = Infinity;
  #failures = 0;
  #stopped = false;
  #cancelTimer: CancelTimer | undefined;

  constructor(
    readonly queue: string,
    private readonly parts: FamilyMemberParts,
  ) {}

  /** How many messages are claimed, being handled, or not settled yet. */
  get held(): number {
    return this.#worker?.held ?? 0;
  }

  /** Takes note that something falls due in so many milliseconds. */
  expect(dueIn: number): void {
    const at = this.parts.clock.monotonic() + dueIn;
    if (at >= this.#nextAt) return;
    this.#nextAt = at;
    if (!this.#worker && !this.#looking && !this.#stopped) this.#sleep();
  }

  /**
   * Looks what there is to do, unless the worker does that, and acts accordingly.
   *
   * @returns if the queue was found empty: when the look began, on the monotonic clock
   */
  look(): Promise<number | undefined> {
    if (this.#worker || this.#stopped) return Promise.resolve(undefined);
    return (this.#looking ??= this.parts.lanes.run(() => this.#look()));
  }

  /** Stops everything except running handlers and the settling of their outcomes. */
  async stopClaiming(): Promise<void> {
    this.#stopped = true;
    this.#cancelTimer?.();
    await Promise.all([this.#worker?.stopClaiming(), this.#looking]);
  }

  async drained(): Promise<void> {
    await this.#worker?.drained();
  }

  abortHandlers(): void {
    this.#worker?.abortHandlers();
  }

  abandon(): void {
    this.#worker?.abandon();
  }

  async #look(): Promise<number | undefined> {
    const { source, clock, onLooked, onLookFailed } = this.parts;
    if (this.#stopped) return undefined;
    this.#cancelTimer?.();
    this.#nextAt = Infinity;
    const beganAt = clock.monotonic();
    let prospect: Prospect;
    try {
      prospect = await source.look(this.queue);
      this.#failures = 0;
      onLooked();
    } catch (error) {
      if (!this.#stopped) onLookFailed(error);
      prospect = { ready: 0, nextIn: failurePause(++this.#failures) };
    }
    // The store read its clock about half-way.
    if (prospect.nextIn !== null) this.expect(prospect.nextIn - (clock.monotonic() - beganAt) / 2);
    this.#act(prospect);
    return prospect.ready === 0 && prospect.nextIn === null ? beganAt : undefined;
  }

  /** What is announced from here on finds the look ended, and a worker, a timer, or no member. */
  #act({ ready }: Prospect): void {
    this.#looking = undefined;
    if (this.#stopped) return;
    if (ready > 0) this.#wake();
    else if (this.#nextAt < Infinity) this.#sleep();
    else this.parts.onEmpty();
  }

  #sleep(): void {
    const { clock } = this.parts;
    this.#cancelTimer?.();
    const delay = this.#nextAt - clock.monotonic();
    if (delay <= 0) void this.look();
    else this.#cancelTimer = clock.schedulePunctually(() => void this.look(), Math.min(delay, LONGEST_TIMER));
  }

  #wake(): void {
    const worker = this.parts.source.open(this.queue);
    this.#worker = worker;
    worker.start();
    this.#restLater(worker, undefined);
  }

  /** @param quietSince - on the monotonic clock */
  #restLater(worker: MemberWorker, quietSince: number | undefined): void {
    const { clock } = this.parts;
    this.#cancelTimer = clock.schedule(() => {
      const now = clock.monotonic();
      if (!worker.isQuiet) this.#restLater(worker, undefined);
      else if (now - (quietSince ?? now) < QUIET_TIME) this.#restLater(worker, quietSince ?? now);
      else void this.#rest(worker);
    }, REST_INTERVAL);
  }

  async #rest(worker: MemberWorker): Promise<void> {
    await worker.stopClaiming();
    await worker.drained();
    if (this.#stopped) return;
    this.#worker = undefined;
    this.parts.source.closed(this.queue);
    await this.look();
  }
}
