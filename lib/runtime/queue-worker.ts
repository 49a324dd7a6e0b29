import { ConsumerLoop } from '../consumer/consumer-loop.js';
import { Slots } from '../consumer/slots.js';
import type { MemberWorker, Visit } from '../families/family-member.js';
import type { Claim, Teller } from '../store/consumer-store.js';
import type { MessageStore } from '../store/message-store.js';
import { Repairer } from '../consumer/repairer.js';
import { TransferScheduler } from '../consumer/transfer-scheduler.js';
import { createRunner, type WorkerParts } from './create-runner.js';
import type { ConfiguredHandler, Queue } from './queues.js';

export interface QueueWorkerOptions extends Required<Omit<WorkerParts, 'calendar'>>, Pick<WorkerParts, 'calendar'> {
  readonly queue: Queue;
  readonly handlers: readonly ConfiguredHandler[];
  /** Distinguishes the schedulers of this process from those of others. */
  readonly processId: string;
  /** How long the store waits for an answer, ms. */
  readonly answerTimeout: number;
  /** Called after each search for messages in no state, once for the whole queue. */
  readonly onChecked?: (() => void) | undefined;
}

/** A quiet queue is left alone for this many milliseconds at least. */
const SHORTEST_QUIET = 10_000;

/** The share of visits that also look for messages in no state: that costs as much as the rest of a visit that finds one message. */
const REPAIRING_VISITS = 1 / 16;

/** What serves one partition of a queue. */
interface PartitionWorker {
  readonly scheduler: TransferScheduler;
  readonly repairer: Repairer;
  readonly loop: ConsumerLoop;
  isStarted: boolean;
  isRepaired: boolean;
  stopped?: Promise<void>;
}

/**
 * Everything that serves one handled queue in this process: for each partition, a transfer scheduler, a repairer and a consumer loop.
 * They share the handlers, and the slots for messages.
 */
export class QueueWorker implements MemberWorker {
  readonly #queue: Queue;
  readonly #random: () => number;
  readonly #open: (store: MessageStore) => PartitionWorker;
  readonly #shared: { readonly slots: Slots; loops: number };
  readonly #serving = new Map<MessageStore, PartitionWorker>();
  /** Those of partitions that the queue has no more. */
  readonly #leaving = new Set<PartitionWorker>();
  #unfollow: (() => void) | undefined;

  constructor({ queue, handlers, processId, answerTimeout, onChecked, ...parts }: QueueWorkerOptions) {
    this.#queue = queue;
    this.#random = parts.random;
    const { name, options } = queue;
    const { checkInterval } = options;
    const runner = createRunner(queue, handlers, parts);
    const batch = Math.max(1, ...handlers.map(({ handler }) => handler.batch?.size ?? 1));
    const settings = { ...options, batch };
    // As many messages as the calls that may run at once can take.
    const shared = {
      slots: new Slots(options.concurrency * batch, parts.clock),
      loops: queue.router.stores.length,
    };
    this.#shared = shared;
    this.#open = (store) => {
      const common = { queue: name, store, ...parts };
      const loop = new ConsumerLoop({ ...common, runner, settings, answerTimeout, shared });
      const onStillReady = () => loop.nudge();
      const claimAlong = (teller: Teller | undefined) => loop.claimAlong(teller);
      const onAbort = (claim: Claim) => loop.abort(claim);
      return {
        scheduler: new TransferScheduler({
          ...common,
          id: processId,
          checkInterval,
          onStillReady,
          claimAlong,
          onAbort,
        }),
        repairer: new Repairer({
          ...common,
          lease: options.lease,
          onChecked: store === queue.router.stores[0] ? onChecked : undefined,
        }),
        loop,
        isStarted: false,
        isRepaired: false,
      };
    };
  }

  /** How many messages are claimed, being handled, or not settled yet. */
  get held(): number {
    return this.#all.reduce((sum, { loop }) => sum + loop.held, 0);
  }

  /** Whether a message is among {@link held}. */
  holds(id: string): boolean {
    return this.#all.some(({ loop }) => loop.holds(id));
  }

  /**
   * Whether this process has nothing to do for the queue, and nobody else for longer than a lease lasts. So it is false while a
   * message is active anywhere: it may be given back at any time.
   */
  get isQuiet(): boolean {
    const quietTime = Math.max(this.#queue.options.lease, SHORTEST_QUIET);
    return this.#all.every(({ loop, scheduler }) => loop.held === 0 && scheduler.quietFor > quietTime);
  }

  /**
   * Claims what is due and starts its handlers, without waiting for more.
   *
   * @throws what the store throws, if nothing was found
   */
  async visit(): Promise<Visit> {
    const visits = await this.#queue.router.withAll(() => {
      this.#openAll();
      return Promise.allSettled([...this.#serving.values()].map(visit));
    });
    const merged = mergeVisits(visits);
    if (merged.hasFound && this.#random() < REPAIRING_VISITS)
      for (const worker of this.#serving.values()) repair(worker);
    return merged;
  }

  start(): void {
    const { router, options } = this.#queue;
    this.#unfollow = router.changes?.follow(() => this.#follow(), options.checkInterval);
    this.#follow();
  }

  /** Stops everything except running handlers and the settling of their outcomes. */
  async stopClaiming(): Promise<void> {
    this.#unfollow?.();
    await Promise.all(this.#all.map(stop));
  }

  /** Resolves when nothing is held any more, and no repair is under way. */
  async drained(): Promise<void> {
    await Promise.all(this.#all.flatMap(({ loop, repairer }) => [loop.drained(), repairer.checked]));
  }

  /** The message of a claim was aborted. If it is held here, its handler is told. */
  abort(claim: Claim): void {
    for (const { loop } of this.#all) loop.abort(claim);
  }

  /** Aborts the signals of the handlers that are still running. */
  abortHandlers(): void {
    for (const { loop } of this.#all) loop.abortHandlers();
  }

  /** Lets go of everything; what is still held comes back when its lease ends. */
  abandon(): void {
    this.#all.forEach(abandon);
  }

  get #all(): PartitionWorker[] {
    return [...this.#serving.values(), ...this.#leaving];
  }

  /** Serves the partitions that the queue has now. */
  #follow(): void {
    const { stores } = this.#queue.router;
    this.#shared.loops = stores.length;
    for (const [store, worker] of this.#serving) {
      if (stores.includes(store)) continue;
      this.#serving.delete(store);
      void this.#leave(worker);
    }
    this.#openAll();
    for (const worker of this.#serving.values()) {
      if (worker.isStarted) continue;
      worker.isStarted = true;
      repair(worker);
      worker.scheduler.start();
      worker.loop.start();
    }
  }

  /** Opens the partitions that are not open. */
  #openAll(): void {
    const { stores } = this.#queue.router;
    for (const store of stores) if (!this.#serving.has(store)) this.#serving.set(store, this.#open(store));
  }

  /** The partition is empty, as far as anybody knows. */
  async #leave(worker: PartitionWorker): Promise<void> {
    this.#leaving.add(worker);
    await stop(worker);
    await worker.loop.drained();
    abandon(worker);
    this.#leaving.delete(worker);
  }
}

/** Claims what is due in a partition. What a transfer leaves ready takes another call. */
async function visit({ scheduler, loop }: PartitionWorker): Promise<Visit> {
  try {
    const { ready, nextIn } = await scheduler.runOnce();
    const isMore = ready > 0 && (await loop.visit());
    return { hasFound: ready > 0 || loop.mayHold, isMore, nextIn };
  } catch (error) {
    if (!loop.mayHold) throw error;
    return { hasFound: true, isMore: true, nextIn: null };
  }
}

/** What one partition has found must not be lost because another one fails. */
function mergeVisits(settled: readonly PromiseSettledResult<Visit>[]): Visit {
  const visits = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const failed = settled.find((each) => each.status === 'rejected');
  const hasFound = visits.some((each) => each.hasFound);
  if (failed && !hasFound) throw failed.reason;
  const next = Math.min(...visits.map(({ nextIn }) => nextIn ?? Infinity));
  const isMore = failed !== undefined || visits.some((each) => each.isMore);
  return { hasFound, isMore, nextIn: next === Infinity ? null : next };
}

/** Has a partition checked from now on. */
function repair(worker: PartitionWorker): void {
  if (!worker.isRepaired) worker.repairer.start();
  worker.isRepaired = true;
}

/** Lets go of everything. */
function abandon({ scheduler, loop, repairer }: PartitionWorker): void {
  scheduler.leave();
  void repairer.stop();
  loop.abandon();
}

/** Everything except running handlers and the settling of their outcomes. */
function stop(worker: PartitionWorker): Promise<void> {
  return (worker.stopped ??= Promise.all([
    worker.scheduler.stop(),
    worker.repairer.stop(),
    worker.loop.stopClaiming(),
  ]).then(() => undefined));
}
