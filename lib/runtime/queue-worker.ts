import { nameOfCodec } from '../codec/redisson/configured-codec.js';
import type { Clock } from '../timing/clock.js';
import { ConsumerLoop, slotsOf } from '../consumer/consumer.loop.js';
import { MessageRunner, type Route } from '../consumer/message.runner.js';
import { BatchRunner } from '../consumer/batch.runner.js';
import { CallLine } from '../consumer/call-line.js';
import { CodecDoubt } from '../consumer/codec-doubt.js';
import { Outcomes } from '../consumer/outcomes.js';
import { Slots } from '../consumer/slots.js';
import { UnknownTypes } from '../consumer/unknown-types.js';
import { RetryPolicy } from '../consumer/retry-policy.js';
import type { Observers } from '../events/observers.js';
import type { Events } from '../events/events.js';
import { HandlerInvoker } from '../handler/handler.invoker.js';
import type { ConfiguredHandler, Queue } from './queues.js';
import { Repairer } from '../transfer/repairer.js';
import type { MessageStore } from '../store/message-store.js';
import { TransferScheduler } from '../transfer/transfer.scheduler.js';

export interface QueueWorkerOptions {
  readonly queue: Queue;
  readonly handlers: readonly ConfiguredHandler[];
  readonly clock: Clock;
  readonly events: Events;
  readonly observers: Observers;
  /** For jitter, 0–1. */
  readonly random: () => number;
  /** Distinguishes the schedulers of this process from those of others. */
  readonly processId: string;
  /** How long the store waits for an answer, ms. */
  readonly answerTimeout: number;
}

/** A quiet queue is left alone for this many milliseconds at least. */
const SHORTEST_QUIET = 10_000;

/** What serves one partition of a queue. */
interface PartitionWorker {
  readonly scheduler: TransferScheduler;
  readonly repairer: Repairer;
  readonly loop: ConsumerLoop;
  stopped?: Promise<void>;
}

/**
 * Everything that serves one handled queue in this process: for each partition, a transfer scheduler, a repairer and a consumer loop.
 * They share the handlers, and the slots for messages.
 */
export class QueueWorker {
  readonly #queue: Queue;
  readonly #open: (store: MessageStore) => PartitionWorker;
  readonly #shared: { readonly slots: Slots; loops: number };
  /** By partition. */
  readonly #serving: PartitionWorker[] = [];
  /** Those of partitions that the queue has no more. */
  readonly #leaving = new Set<PartitionWorker>();
  #unwatch: readonly (() => void)[] = [];

  constructor({ queue, handlers, processId, answerTimeout, ...parts }: QueueWorkerOptions) {
    this.#queue = queue;
    const { name, options } = queue;
    const { checkInterval } = options;
    const runner = createRunner(queue, handlers, parts);
    const settings = { ...options, batch: Math.max(1, ...handlers.map(({ handler }) => handler.batch?.size ?? 1)) };
    const shared = { slots: new Slots(slotsOf(settings), parts.clock), loops: queue.partitions.stores.length };
    this.#shared = shared;
    this.#open = (store) => {
      const common = { queue: name, store, ...parts };
      const loop = new ConsumerLoop({ ...common, runner, settings, answerTimeout, shared });
      const onStillReady = () => loop.nudge();
      return {
        scheduler: new TransferScheduler({ ...common, id: processId, checkInterval, onStillReady }),
        repairer: new Repairer(common),
        loop,
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

  start(): void {
    const { partitions, options } = this.#queue;
    this.#unwatch = [partitions.onChange(() => this.#follow()), partitions.watch(options.checkInterval)];
    this.#follow();
  }

  /** Stops everything except running handlers and the settling of their outcomes. */
  async stopClaiming(): Promise<void> {
    for (const unwatch of this.#unwatch) unwatch();
    await Promise.all(this.#all.map(stop));
  }

  /** Resolves when nothing is held any more. */
  async drained(): Promise<void> {
    await Promise.all(this.#all.map(({ loop }) => loop.drained()));
  }

  /** Aborts the signals of the handlers that are still running. */
  abortHandlers(): void {
    for (const { loop } of this.#all) loop.abortHandlers();
  }

  /** Lets go of everything; what is still held comes back when its lease ends. */
  abandon(): void {
    for (const { loop } of this.#all) loop.abandon();
  }

  get #all(): PartitionWorker[] {
    return [...this.#serving, ...this.#leaving];
  }

  /** Serves the partitions that the queue has now. */
  #follow(): void {
    const { stores } = this.#queue.partitions;
    this.#shared.loops = stores.length;
    for (const worker of this.#serving.splice(stores.length)) void this.#leave(worker);
    for (const store of stores.slice(this.#serving.length)) {
      const worker = this.#open(store);
      this.#serving.push(worker);
      worker.scheduler.start();
      worker.repairer.start();
      worker.loop.start();
    }
  }

  /** The partition is empty, as far as anybody knows. */
  async #leave(worker: PartitionWorker): Promise<void> {
    this.#leaving.add(worker);
    await stop(worker);
    await worker.loop.drained();
    worker.loop.abandon();
    this.#leaving.delete(worker);
  }
}

/** Everything except running handlers and the settling of their outcomes. */
function stop(worker: PartitionWorker): Promise<void> {
  return (worker.stopped ??= Promise.all([
    worker.scheduler.stop(),
    worker.repairer.stop(),
    worker.loop.stopClaiming(),
  ]).then(() => undefined));
}

/** What the parts of a worker have in common. */
export type WorkerParts = Pick<QueueWorkerOptions, 'clock' | 'events' | 'random'> &
  Partial<Pick<QueueWorkerOptions, 'observers'>>;

type RouteParts = WorkerParts & { readonly outcomes: Outcomes; readonly line: CallLine };

function routeTo({ handler, options }: ConfiguredHandler, parts: RouteParts): Route {
  const { check, batch } = handler;
  const { timeout } = options;
  const { clock, events, random, outcomes, line, observers } = parts;
  const retryPolicy = new RetryPolicy(options, events, random);
  const calls = { invoker: new HandlerInvoker(handler), check, retryPolicy, timeout };
  return { ...calls, batch: batch && new BatchRunner({ ...calls, ...batch, outcomes, clock, line, observers }) };
}

/** What takes the messages of a queue to its handlers. */
export function createRunner(
  { codec, options }: Queue,
  handlers: readonly ConfiguredHandler[],
  parts: WorkerParts,
): MessageRunner {
  const { clock, events, random, observers } = parts;
  const outcomes = new Outcomes({ ...options, codec, clock, events });
  const line = new CallLine(options.concurrency);
  return new MessageRunner({
    codec,
    routes: new Map(handlers.map((each) => [each.handler.type, routeTo(each, { ...parts, outcomes, line })])),
    doubt: options.layout === 'redisson' ? new CodecDoubt(nameOfCodec(options.codec)) : undefined,
    unknownTypes: new UnknownTypes({ grace: options.unknownTypeGrace, events, random }),
    outcomes,
    clock,
    observers,
    line: handlers.some(({ handler }) => handler.batch) ? line : undefined,
  });
}
