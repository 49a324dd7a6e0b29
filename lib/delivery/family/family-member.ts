import type { Claim } from '../../store/message-flow.js';
import { type CancelTimer, type Clock, LONGEST_TIMER } from '../../timing/clock.js';
import { failurePause } from '../../timing/failure-pause.js';
import type { Lanes } from './lanes.js';

/** What serves one queue while it is awake. */
export interface MemberWorker {
  readonly held: number;
  /** Whether there is nothing to do for some time. */
  readonly isQuiet: boolean;
  /** From now on it waits for what falls due and becomes ready. */
  start(): void;
  stopClaiming(): Promise<void>;
  drained(): Promise<void>;
  /** The message of a claim was aborted. */
  abort(claim: Claim): void;
  abortHandlers(): void;
  abandon(): void;
}

/** What a look at a queue found. */
export interface Look {
  /** Handles what was due; undefined: nothing was. */
  readonly worker?: MemberWorker | undefined;
  /** Whether the worker has to be started, because messages are left. */
  readonly isMore: boolean;
  /** Milliseconds until something falls due, or a lease ends; null: nothing will. */
  readonly nextIn: number | null;
}

/** How the members of a family reach their queues. */
export interface MemberSource {
  /**
   * Claims what is due in a queue and starts its handlers, without waiting for more.
   *
   * @throws what the store throws
   */
  look(queue: string): Promise<Look>;
  /** Called when a worker of the queue has stopped. */
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

/** How long a visit may last, ms: meanwhile, nobody listens for messages that another process releases. */
const LONGEST_VISIT = 5000;

/**
 * One queue of a family that holds messages.
 *
 * While nothing is ready it is *asleep*: a timer looks at it when something falls due. A worker that only *visits* the queue handles
 * what a look finds: most queues have a message now and then, and waiting for more costs several times what that message costs. The
 * queue is *awake* if a visit is not enough: messages are left, handlers are slow, something falls due meanwhile, or the next
 * messages come soon. Then the worker does everything, until it has been quiet for a while. A look always decides what happens
 * next, so it does not matter what was missed before.
 */
export class FamilyMember {
  /** Undefined: asleep. */
  #worker: MemberWorker | undefined;
  #looking: Promise<number | undefined> | undefined;
  /** When something is known to fall due, on the monotonic clock. During a look: what is announced meanwhile. */
  #nextAt = Infinity;
  #failures = 0;
  #stopped = false;
  /** When the latest visit began, on the monotonic clock. */
  #visitedAt = -Infinity;
  /** When a visit turns into a stay, on the monotonic clock; undefined: no visit is under way. */
  #staysAt: number | undefined;
  #cancelTimer: CancelTimer | undefined;

  constructor(
    readonly queue: string,
    private readonly parts: FamilyMemberParts,
  ) {}

  /** How many messages are claimed, being handled, or not settled yet. */
  get held(): number {
    return this.#worker?.held ?? 0;
  }

  /** Something falls due in so many milliseconds. */
  expect(dueIn: number): void {
    const at = this.parts.clock.monotonic() + dueIn;
    if (at >= this.#nextAt) return;
    this.#nextAt = at;
    if (this.#looking || this.#stopped) return;
    if (!this.#worker) this.#sleep();
    else if (this.#staysAt !== undefined) this.#stayLater(this.#worker, this.#staysAt);
  }

  /**
   * Looks for work, unless a worker does that, and acts on what it finds.
   *
   * @returns if the queue was found empty: when the look began, on the monotonic clock
   */
  look(): Promise<number | undefined> {
    if (this.#worker || this.#stopped) return Promise.resolve(undefined);
    this.#cancelTimer?.();
    return (this.#looking ??= this.parts.lanes.run(() => this.#look()));
  }

  /** Stops everything except running handlers and the settling of their outcomes. */
  async stopClaiming(): Promise<void> {
    this.#stopped = true;
    this.#cancelTimer?.();
    await this.#looking;
    await this.#worker?.stopClaiming();
  }

  async drained(): Promise<void> {
    await this.#worker?.drained();
  }

  abort(claim: Claim): void {
    this.#worker?.abort(claim);
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
    this.#nextAt = Infinity;
    const beganAt = clock.monotonic();
    let found: Look;
    try {
      found = await source.look(this.queue);
      this.#failures = 0;
      onLooked();
    } catch (error) {
      if (!this.#stopped) onLookFailed(error);
      found = { isMore: false, nextIn: failurePause(++this.#failures) };
    }
    // The store read its clock about half-way.
    if (found.nextIn !== null) this.expect(found.nextIn - (clock.monotonic() - beganAt) / 2);
    this.#act(found);
    return !found.worker && found.nextIn === null ? beganAt : undefined;
  }

  /** The look is over: an announcement from here on meets a worker, a timer, or no member. */
  #act({ worker, isMore }: Look): void {
    this.#looking = undefined;
    this.#worker = worker;
    if (this.#stopped) return;
    if (worker) this.#serve(worker, isMore);
    else if (this.#nextAt < Infinity) this.#sleep();
    else this.#forget();
  }

  /** A queue that was visited is remembered for a while: if the next messages come soon, it is worth waiting for them. */
  #forget(): void {
    const { clock, onEmpty } = this.parts;
    const rest = this.#visitedAt + QUIET_TIME - clock.monotonic();
    if (rest > 0) this.#cancelTimer = clock.schedule(onEmpty, rest);
    else onEmpty();
  }

  #sleep(): void {
    const { clock } = this.parts;
    this.#cancelTimer?.();
    const delay = this.#nextAt - clock.monotonic();
    if (delay <= 0) void this.look();
    else this.#cancelTimer = clock.schedulePunctually(() => void this.look(), Math.min(delay, LONGEST_TIMER));
  }

  /** The worker leaves when all is settled, or stays. */
  #serve(worker: MemberWorker, isMore: boolean): void {
    const now = this.parts.clock.monotonic();
    const wasVisited = now - this.#visitedAt < QUIET_TIME;
    if (!wasVisited) this.#visitedAt = now;
    if (wasVisited || isMore) return this.#stay(worker);
    this.#staysAt = now + LONGEST_VISIT;
    this.#stayLater(worker, this.#staysAt);
    void this.#leave(worker);
  }

  #stayLater(worker: MemberWorker, latest: number): void {
    const { clock } = this.parts;
    this.#cancelTimer?.();
    const delay = Math.max(0, Math.min(latest, this.#nextAt) - clock.monotonic());
    this.#cancelTimer = clock.schedulePunctually(() => this.#stay(worker), delay);
  }

  #stay(worker: MemberWorker): void {
    this.#staysAt = undefined;
    worker.start();
    this.#restLater(worker, undefined);
  }

  /** Ends a visit when everything is settled, unless the worker stays by then. */
  async #leave(worker: MemberWorker): Promise<void> {
    await worker.drained();
    if (this.#stopped || this.#staysAt === undefined) return;
    this.#staysAt = undefined;
    worker.abandon();
    await this.#lookAgain();
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
    worker.abandon();
    await this.#lookAgain();
  }

  async #lookAgain(): Promise<void> {
    this.#worker = undefined;
    this.parts.source.closed(this.queue);
    await this.look();
  }
}
