import type { Claim } from '../store/consumer-store.js';
import type { MessageStore } from '../store/message-store.js';
import type { Router } from '../store/router.js';
import { longer, type RunningHandler, type SlotUsage } from './activity.js';
import { ShuttingDown } from './delivery.js';
import { Slots } from './capacity.js';
import { PartitionWorker, type PartitionWorkerOptions, type Visit } from './partition-worker.js';

/** The minimum time for which a queue without work counts as quiet, ms. */
const MIN_QUIET = 10_000;

/** The share of visits that also search for orphaned messages. A search costs as much as the rest of a visit that finds one message. */
const REPAIRING_VISITS = 1 / 16;

/** Serves one queue in this process, with a {@link PartitionWorker} for each partition. The workers share handlers and slots. */
export class QueueWorker {
  readonly #slots: Slots;
  readonly #serving = new Map<MessageStore, PartitionWorker>();
  /** Workers of partitions that the queue no longer has. */
  readonly #leaving = new Set<PartitionWorker>();
  #unfollow: (() => void) | undefined;

  constructor(
    private readonly options: Omit<PartitionWorkerOptions, 'store' | 'slots' | 'onChecked'> & {
      readonly router: Router;
      /** Called after each search for orphaned messages, once for the whole queue. */
      readonly onChecked?: (() => void) | undefined;
    },
  ) {
    const { runner, router } = options;
    // One slot for each message of the calls that may run at once.
    this.#slots = new Slots(options.options.concurrency * runner.maxBatch, router.stores.length);
  }

  /** The number of messages that are claimed, being handled, or not settled yet. */
  get held(): number {
    return this.#all.reduce((sum, { loop }) => sum + loop.leases.held.size, 0);
  }

  get usage(): SlotUsage {
    const { total, used } = this.#slots;
    return { slots: total, used, longest: this.#longest() };
  }

  holds(id: string): boolean {
    return this.#all.some(({ loop }) => loop.leases.holds(id));
  }

  /** True if no process will have work for longer than a lease. False while a message is active, because it may be released at any time. */
  get isQuiet(): boolean {
    const quietTime = Math.max(this.options.options.lease, MIN_QUIET);
    return this.#all.every(({ loop, scheduler }) => loop.leases.held.size === 0 && scheduler.quietFor > quietTime);
  }

  /** Claims due messages and starts their handlers, without waiting for more. Throws whatever the store throws if nothing was found. */
  async visit(): Promise<Visit> {
    const { router, random } = this.options;
    const visits = await router.withAll(() => {
      this.#openAll();
      return Promise.allSettled([...this.#serving.values()].map((worker) => worker.visit()));
    });
    const merged = mergeVisits(visits);
    if (merged.hasFound && random() < REPAIRING_VISITS) for (const worker of this.#serving.values()) worker.repair();
    return merged;
  }

  start(): void {
    const { router, options } = this.options;
    this.#unfollow = router.changes?.follow(() => this.#follow(), options.checkInterval);
    this.#follow();
  }

  /** Stops everything except running handlers and the settling of their outcomes. */
  async stopClaiming(): Promise<void> {
    this.#unfollow?.();
    const stopped = this.#all.map((worker) => worker.stop());
    this.options.runner.waitingCalls?.stop();
    await Promise.all(stopped);
  }

  /** Resolves when no message is held and no repair is in progress. */
  async drained(): Promise<void> {
    await Promise.all(this.#all.flatMap(({ loop, repairer }) => [loop.leases.drained(), repairer.checked]));
  }

  /** Aborts the signal of a message that somebody has aborted, if this worker holds the message. */
  abort(claim: Claim): void {
    for (const { loop } of this.#all) loop.abort(claim);
  }

  /** Aborts the signals of handlers that are still running. */
  abortHandlers(): void {
    const reason = new ShuttingDown('The application is shutting down');
    for (const { loop } of this.#all) loop.leases.abortAll(reason);
  }

  /** Stops settling and extending leases. Messages still held become ready when their leases end. */
  abandon(): void {
    for (const worker of this.#all) worker.abandon();
  }

  #longest(): RunningHandler | undefined {
    let longest: RunningHandler | undefined;
    for (const { loop } of this.#all) {
      for (const delivery of loop.leases.held) if (delivery.startedAt >= 0) longest = longer(longest, delivery);
    }
    return longest;
  }

  get #all(): PartitionWorker[] {
    return [...this.#serving.values(), ...this.#leaving];
  }

  #follow(): void {
    const { stores } = this.options.router;
    this.#slots.loops = stores.length;
    for (const [store, worker] of this.#serving) {
      if (stores.includes(store)) continue;
      this.#serving.delete(store);
      void this.#leave(worker);
    }
    this.#openAll();
    for (const worker of this.#serving.values()) worker.start();
  }

  #openAll(): void {
    const { router, onChecked, ...parts } = this.options;
    for (const store of router.stores) {
      if (this.#serving.has(store)) continue;
      const isFirst = store === router.stores[0];
      const own = { store, slots: this.#slots, onChecked: isFirst ? onChecked : undefined };
      this.#serving.set(store, new PartitionWorker({ ...parts, ...own }));
    }
  }

  /** Stops serving a partition that is empty, as far as this process knows. */
  async #leave(worker: PartitionWorker): Promise<void> {
    this.#leaving.add(worker);
    await worker.stop();
    await worker.loop.leases.drained();
    worker.abandon();
    this.#leaving.delete(worker);
  }
}

/** Merges the visits to all partitions. Keeps what one partition has found even if another one fails. */
function mergeVisits(settled: readonly PromiseSettledResult<Visit>[]): Visit {
  const visits = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const failed = settled.find((each) => each.status === 'rejected');
  const hasFound = visits.some((each) => each.hasFound);
  if (failed && !hasFound) throw failed.reason;
  const next = Math.min(...visits.map(({ nextIn }) => nextIn ?? Infinity));
  const isMore = failed !== undefined || visits.some((each) => each.isMore);
  return { hasFound, isMore, nextIn: next === Infinity ? null : next };
}
