import { randomBytes } from 'node:crypto';
import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
} from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { afterBootstrap } from './after-bootstrap.js';
import type { Clock } from './clock.js';
import { ConsumerLoop } from './consumer/consumer.loop.js';
import { showFailure } from './consumer/failure.js';
import { MessageRunner } from './consumer/message.runner.js';
import { RetryPolicy } from './consumer/retry-policy.js';
import type { ResolvedModuleOptions } from './delay-queue.options.schema.js';
import { CLOCK, RESOLVED_OPTIONS, STORES } from './delay-queue.tokens.js';
import { AgainAdvice } from './handler/again-advice.js';
import { HandlerInvoker } from './handler/handler.invoker.js';
import { type HandledQueue, HandlerRegistry } from './handler/handler.registry.js';
import { Queues } from './queues.js';
import { Events } from './events/events.js';
import { isVerdict } from './store/redis-check.js';
import type { Stores } from './store/create-stores.js';
import { Repairer } from './transfer/repairer.js';
import { TransferScheduler } from './transfer/transfer.scheduler.js';

/** Of the shutdown time, what is kept for handlers that end when their signal aborts, and for settling: a fifth, at most this. */
const LONGEST_ABORT_RESERVE = 1000;

/**
 * Starts and stops everything.
 *
 * Start, when every module is up: for each handled queue a transfer scheduler, a repairer and a consumer loop.
 * Stop, while every module is still up: stop claiming, let handlers finish, settle. The connections close at the very end,
 * so that handlers, and requests that are still served, can offer until then.
 */
@Injectable()
export class DelayQueueRuntime implements OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown {
  readonly #schedulers: TransferScheduler[] = [];
  readonly #repairers: Repairer[] = [];
  readonly #loops: ConsumerLoop[] = [];
  #stopping = false;

  constructor(
    @Inject(RESOLVED_OPTIONS) private readonly options: ResolvedModuleOptions,
    @Inject(STORES) private readonly stores: Stores,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly events: Events,
    private readonly queues: Queues,
    private readonly handlers: HandlerRegistry,
    private readonly againAdvice: AgainAdvice,
    private readonly modules: ModulesContainer,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    this.queues.checkOptions();
    this.stores.connect();
    await this.#check();
    if (this.options.consume) afterBootstrap(this.modules, () => this.#start());
    else this.#tellOfHandlersNotStarted();
  }

  async onModuleDestroy(): Promise<void> {
    this.#stopping = true;
    this.stores.hurry();
    await new Promise<void>((resolve, reject) => {
      const cancelTimer = this.clock.schedule(resolve, this.options.shutdownTimeout);
      this.#stop().finally(cancelTimer).then(resolve, reject);
    });
    for (const loop of this.#loops) loop.abandon();
    const left = this.#loops.reduce((sum, loop) => sum + loop.held, 0);
    if (left > 0) {
      this.events.emit('unsettled', { count: left });
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.stores.close();
  }

  async #check(): Promise<void> {
    const handled = this.options.consume ? this.handlers.all().map(({ name }) => this.queues.get(name)) : [];
    try {
      await this.stores.check(handled);
    } catch (error) {
      if (isVerdict(error)) {
        // Nest closes nothing of an application that did not start.
        await this.stores.close();
        throw error;
      }
      // An application may well be up before its Redis; it is checked when it is there.
      this.events.emit('unchecked', { reason: showFailure(error) });
    }
  }

  #tellOfHandlersNotStarted(): void {
    const handlers = this.handlers.all().map(({ name, handler }) => ({ queue: name, name: handler.name }));
    if (handlers.length > 0) this.events.emit('handlersNotStarted', { handlers });
  }

  #start(): void {
    // The application may be told to stop while it still starts.
    if (this.#stopping) return;
    const processId = randomBytes(9).toString('base64url');
    for (const handled of this.handlers.all()) {
      this.#startQueue(handled, processId);
      this.events.emit('handlerStarted', { queue: handled.name, handler: handled.handler.name });
    }
  }

  #startQueue({ name, handler }: HandledQueue, processId: string): void {
    const { name: queue, store, codec, options } = this.queues.get(name);
    const { clock, events } = this;
    const { offerTimeout: answerTimeout } = this.options;
    const { attempts, timeout, checkInterval, maxPayloadBytes } = options;
    const retryPolicy = new RetryPolicy(options, events);
    const bodies = { codec, maxPayloadBytes };
    const runner = new MessageRunner({
      invoker: new HandlerInvoker(handler),
      ...bodies,
      retryPolicy,
      clock,
      events,
      attempts,
      timeout,
    });
    const scheduler = new TransferScheduler({ queue, store, clock, events, id: processId, checkInterval });
    const repairer = new Repairer({ queue, store, clock, events });
    const loop = new ConsumerLoop({ queue, store, runner, clock, events, settings: options, answerTimeout });
    this.#schedulers.push(scheduler);
    this.#repairers.push(repairer);
    this.#loops.push(loop);
    this.againAdvice.watch(queue, (id) => loop.holds(id));
    scheduler.start();
    repairer.start();
    loop.start();
  }

  async #stop(): Promise<void> {
    const { shutdownTimeout } = this.options;
    const reserve = Math.min(shutdownTimeout / 5, LONGEST_ABORT_RESERVE);
    const cancelAbort = this.clock.schedule(
      () => this.#loops.forEach((loop) => loop.abortHandlers()),
      shutdownTimeout - reserve,
    );
    await Promise.all([
      ...this.#schedulers.map((scheduler) => scheduler.stop()),
      ...this.#repairers.map((repairer) => repairer.stop()),
      ...this.#loops.map((loop) => loop.stopClaiming()),
    ]);
    await Promise.all(this.#loops.map((loop) => loop.drained()));
    cancelAbort();
  }
}
