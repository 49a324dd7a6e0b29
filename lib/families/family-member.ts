import type { SlotUsage } from '../consumer/activity.js';
import type { Visit } from '../consumer/partition-worker.js';
import type { QueueWorker } from '../consumer/queue-worker.js';
import type { Claim } from '../store/consumer-store.js';
import { type CancelTimer, type Clock, MAX_TIMER_DELAY, readingTime } from '../timing/clock.js';
import { failurePause } from '../timing/pauses.js';

/** A worker for one queue while the queue is awake or visited. */
export type MemberWorker = Pick<
  QueueWorker,
  'held' | 'usage' | 'isQuiet' | 'visit' | 'start' | 'stopClaiming' | 'drained' | 'abort' | 'abortHandlers' | 'abandon'
>;

/** Opens the workers of a family's queues. */
export interface MemberSource {
  open(queue: string): MemberWorker;
  /** Called when the worker of a queue has stopped. */
  closed(queue: string): void;
}

/** Reports calls that keep failing. */
export interface CallStreak {
  callFailed(error: unknown): void;
  worked(): void;
}

/** The interval between checks of whether a worker is quiet, ms. */
const REST_INTERVAL = 5000;

/** How long a worker must be quiet before it is stopped, ms. */
const QUIET_TIME = 10_000;

/** The maximum length of a visit, ms. Short, because during a visit nobody listens for messages released by other processes. */
const MAX_VISIT = 5000;

/**
 * One queue of a family, while it holds messages.
 *
 * The queue is *asleep* while nothing is ready: a timer triggers a look when something falls due. Most queues get only an occasional
 * message, and a waiting worker costs several times as much as handling it. So a worker first *visits* the queue: it handles what the look
 * found, and leaves. If that is not enough (messages remain, handlers are slow, or more fall due during the visit or soon after), the queue
 * is *awake*: a worker runs until the queue has been quiet for a while. Each look decides afresh, so a missed announcement does no harm.
 */
export class FamilyMember {
  /** The worker of an awake or visited queue; undefined while asleep. */
  #worker: MemberWorker | undefined;
  /** The worker of the current look. The messages that it has found are being handled. */
  #looker: MemberWorker | undefined;
  #looking: Promise<number | undefined> | undefined;
  /** When the next message is known to fall due, on the monotonic clock. During a look, only announcements since the look began count. */
  #nextAt = Infinity;
  #failures = 0;
  #stopped = false;
  /** When the latest visit began, on the monotonic clock. */
  #visitedAt = -Infinity;
  /** When the current visit turns into a stay, on the monotonic clock; undefined if there is no visit. */
  #staysAt: number | undefined;
  #cancelTimer: CancelTimer | undefined;

  constructor(
    readonly queue: string,
    private readonly parts: {
      readonly source: MemberSource;
      readonly clock: Clock;
      readonly looks: Semaphore;
      readonly streak: CallStreak;
      /** Called when the queue is empty, or holds only dead letters. */
      readonly onEmpty: () => void;
    },
  ) {}

  /** Number of messages that are claimed, being handled, or not settled yet. */
  get held(): number {
    return this.#serving?.held ?? 0;
  }

  /** Undefined while the queue is asleep. */
  get usage(): SlotUsage | undefined {
    return this.#serving?.usage;
  }

  /** Notes that something falls due in `dueIn` ms. */
  expect(dueIn: number): void {
    const at = this.parts.clock.monotonic() + dueIn;
    if (at >= this.#nextAt) return;
    this.#nextAt = at;
    if (this.#looking || this.#stopped) return;
    if (!this.#worker) this.#sleep();
    else if (this.#staysAt !== undefined) this.#stayLater(this.#worker, this.#staysAt);
  }

  /** Looks for work unless a worker is serving the queue, and acts on what it finds. If the queue is empty, returns when the look began. */
  look(): Promise<number | undefined> {
    if (this.#worker || this.#stopped) return Promise.resolve(undefined);
    this.#cancelTimer?.();
    return (this.#looking ??= this.parts.looks.run(() => this.#look()));
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
    this.#serving?.abort(claim);
  }

  abortHandlers(): void {
    this.#serving?.abortHandlers();
  }

  abandon(): void {
    this.#worker?.abandon();
  }

  get #serving(): MemberWorker | undefined {
    return this.#worker ?? this.#looker;
  }

  async #look(): Promise<number | undefined> {
    const { clock, streak } = this.parts;
    if (this.#stopped) return undefined;
    this.#nextAt = Infinity;
    const sentAt = clock.monotonic();
    let found: Visit;
    try {
      found = await this.#visit();
      this.#failures = 0;
      streak.worked();
    } catch (error) {
      if (!this.#stopped) streak.callFailed(error);
      found = { hasFound: false, isMore: false, nextIn: failurePause(++this.#failures) };
    }
    if (found.nextIn !== null) {
      const receivedAt = clock.monotonic();
      this.expect(found.nextIn - (receivedAt - readingTime({ sentAt, receivedAt })));
    }
    this.#act(found);
    return !found.hasFound && found.nextIn === null ? sentAt : undefined;
  }

  /** Has a new worker look, and keeps the worker if it finds something. */
  async #visit(): Promise<Visit> {
    const { source } = this.parts;
    const looker = (this.#looker = source.open(this.queue));
    try {
      const found = await looker.visit();
      if (found.hasFound) this.#worker = looker;
      return found;
    } finally {
      this.#looker = undefined;
      if (!this.#worker) this.#close(looker);
    }
  }

  /** Ends the look. From now on, a worker, a timer or a new member deals with announcements. */
  #act({ isMore }: Visit): void {
    this.#looking = undefined;
    if (this.#stopped) return;
    if (this.#worker) this.#serve(this.#worker, isMore);
    else if (this.#nextAt < Infinity) this.#sleep();
    else this.#forget();
  }

  /** Keeps a recently visited queue for a while: if more messages come soon, a worker should stay and wait for them. */
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
    else this.#cancelTimer = clock.schedulePunctually(() => void this.look(), Math.min(delay, MAX_TIMER_DELAY));
  }

  /** Keeps a worker that has found something: for a visit that ends once everything is settled, or for longer. */
  #serve(worker: MemberWorker, isMore: boolean): void {
    const now = this.parts.clock.monotonic();
    const wasVisited = now - this.#visitedAt < QUIET_TIME;
    if (!wasVisited) this.#visitedAt = now;
    if (wasVisited || isMore) return this.#stay(worker);
    this.#staysAt = now + MAX_VISIT;
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

  /** Ends a visit once everything is settled, unless the worker has decided to stay. */
  async #leave(worker: MemberWorker): Promise<void> {
    await worker.drained();
    if (this.#stopped || this.#staysAt === undefined) return;
    this.#staysAt = undefined;
    await this.#lookAgain(worker);
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
    if (!this.#stopped) await this.#lookAgain(worker);
  }

  async #lookAgain(worker: MemberWorker): Promise<void> {
    this.#worker = undefined;
    this.#close(worker);
    await this.look();
  }

  #close(worker: MemberWorker): void {
    worker.abandon();
    this.parts.source.closed(this.queue);
  }
}

/** Runs up to `count` tasks at a time. Extra tasks wait in order of arrival. */
export class Semaphore {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  async run<Result>(task: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}
