import { nameOfCodec } from '../codec/redisson/configured-codec.js';
import type { Clock } from '../timing/clock.js';
import { ConsumerLoop } from '../consumer/consumer.loop.js';
import { MessageRunner, type Route } from '../consumer/message.runner.js';
import { BatchRunner } from '../consumer/batch.runner.js';
import { CallLine } from '../consumer/call-line.js';
import { CodecDoubt } from '../consumer/codec-doubt.js';
import { Outcomes } from '../consumer/outcomes.js';
import { UnknownTypes } from '../consumer/unknown-types.js';
import { RetryPolicy } from '../consumer/retry-policy.js';
import type { Observers } from '../events/observers.js';
import type { Events } from '../events/events.js';
import { HandlerInvoker } from '../handler/handler.invoker.js';
import type { ConfiguredHandler, Queue } from './queues.js';
import { Repairer } from '../transfer/repairer.js';
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

/** Everything that serves one handled queue in this process: a transfer scheduler, a repairer and a consumer loop. */
export class QueueWorker {
  readonly #scheduler: TransferScheduler;
  readonly #repairer: Repairer;
  readonly #loop: ConsumerLoop;
  readonly #lease: number;

  constructor({ queue, handlers, processId, answerTimeout, ...parts }: QueueWorkerOptions) {
    const { name, store, options } = queue;
    const common = { queue: name, store, ...parts };
    this.#lease = options.lease;
    const runner = createRunner(queue, handlers, parts);
    this.#scheduler = new TransferScheduler({
      ...common,
      id: processId,
      checkInterval: options.checkInterval,
      onStillReady: () => this.#loop.nudge(),
    });
    this.#repairer = new Repairer(common);
    const batch = Math.max(1, ...handlers.map(({ handler }) => handler.batch?.size ?? 1));
    this.#loop = new ConsumerLoop({ ...common, runner, settings: { ...options, batch }, answerTimeout });
  }

  /** How many messages are claimed, being handled, or not settled yet. */
  get held(): number {
    return this.#loop.held;
  }

  /** Whether a message is among {@link held}. */
  holds(id: string): boolean {
    return this.#loop.holds(id);
  }

  /**
   * Whether this process has nothing to do for the queue, and nobody else for longer than a lease lasts. So it is false while a
   * message is active anywhere: it may be given back at any time.
   */
  get isQuiet(): boolean {
    return this.#loop.held === 0 && this.#scheduler.quietFor > Math.max(this.#lease, SHORTEST_QUIET);
  }

  start(): void {
    this.#scheduler.start();
    this.#repairer.start();
    this.#loop.start();
  }

  /** Stops everything except running handlers and the settling of their outcomes. */
  async stopClaiming(): Promise<void> {
    await Promise.all([this.#scheduler.stop(), this.#repairer.stop(), this.#loop.stopClaiming()]);
  }

  /** Resolves when nothing is held any more. */
  drained(): Promise<void> {
    return this.#loop.drained();
  }

  /** Aborts the signals of the handlers that are still running. */
  abortHandlers(): void {
    this.#loop.abortHandlers();
  }

  /** Lets go of everything; what is still held comes back when its lease ends. */
  abandon(): void {
    this.#loop.abandon();
  }
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
