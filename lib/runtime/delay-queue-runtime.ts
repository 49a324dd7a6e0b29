import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
  Optional,
} from '@nestjs/common';
import { ModuleRef, ModulesContainer } from '@nestjs/core';
import type { CancelTimer, Clock } from '../timing/clock.js';
import { allInSlices, inSlices } from '../timing/event-loop.js';
import { isFamily } from '../message/queue-name.js';
import { hasCode, showFailure } from '../message/failure.js';
import type { ResolvedModuleOptions } from '../options/module-options-schema.js';
import { CLOCK, RESOLVED_OPTIONS, START_TASK, type StartTask, STORES } from './delay-queue-tokens.js';
import { type DeclaredQueue, HandlerRegistry } from '../handler/handler-registry.js';
import { MisspeltNames } from './misspelt-names.js';
import { QueueRegistrar } from './queue-registrar.js';
import { Queues } from './queues.js';
import { type Worker, Workers } from './workers.js';
import type { DelayQueueEvents, HeldByQueue } from '../message/delay-queue-events.js';
import { Events } from '../events/events.js';
import { isVerdict } from '../redis/check/redis-check.js';
import type { CheckedQueue, Stores } from './create-stores.js';

/** Handlers' signals are aborted this long before `shutdownTimeout` ends, ms, or a fifth of it if that is less, so that they can react. */
const MAX_ABORT_RESERVE = 1000;

/** How long after startup to check for signal listeners, ms. The application may call `enableShutdownHooks()` after `listen()`. */
const TIME_TO_LISTEN = 5000;

/** Logs a note if nothing listens for SIGTERM: it would kill running handlers, and their messages would wait until their leases end. */
export class ShutdownHint {
  #cancelTimer: CancelTimer | undefined;

  constructor(
    private readonly clock: Pick<Clock, 'schedule'>,
    private readonly events: Events,
  ) {}

  /** Called when handlers have been started. */
  start(): void {
    this.#cancelTimer = this.clock.schedule(() => {
      if (process.listenerCount('SIGTERM') === 0) this.events.note('signals-ignored', { signal: 'SIGTERM' });
    }, TIME_TO_LISTEN);
  }

  stop(): void {
    this.#cancelTimer?.();
  }
}

/**
 * Once every module has started, keeps the connections open and starts a worker for each handled queue and family. On shutdown, while every
 * module is still up, stops claiming, lets handlers finish, and settles their messages. Connections close last, so that handlers and
 * requests in progress can make offers until then.
 */
@Injectable()
export class DelayQueueRuntime implements OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown {
  /** Workers by queue or family. */
  readonly #workers = new Map<string, Worker>();
  #stopping: Promise<void> | undefined;

  constructor(
    @Inject(RESOLVED_OPTIONS) private readonly options: ResolvedModuleOptions,
    @Inject(STORES) private readonly stores: Stores,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly events: Events,
    private readonly queues: Queues,
    private readonly handlers: HandlerRegistry,
    private readonly workers: Workers,
    private readonly registrar: QueueRegistrar,
    private readonly misspeltNames: MisspeltNames,
    private readonly modules: ModulesContainer,
    private readonly app: ModuleRef,
    @Inject(ShutdownHint) private readonly shutdownHint: ShutdownHint | undefined,
    @Optional() @Inject(START_TASK) private readonly startTask: StartTask | undefined,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.#orCloseAll(() => this.#prepare());
    if (!this.options.consume) this.#reportHandlersNotStarted();
    afterBootstrap(this.modules, () => this.#orCloseAll(() => this.#start()));
  }

  /** Nest destroys modules one after another, but all instances stop at once, so none waits for another's handlers. */
  async onModuleDestroy(): Promise<void> {
    await Promise.all(this.#ofAllInstances().map((runtime) => runtime.stop()));
  }

  stop(): Promise<void> {
    return (this.#stopping ??= this.#stopInTime());
  }

  async #stopInTime(): Promise<void> {
    this.shutdownHint?.stop();
    this.stores.failFast();
    await new Promise<void>((resolve, reject) => {
      const cancelTimer = this.clock.schedule(resolve, this.options.shutdownTimeout);
      this.#stop().finally(cancelTimer).then(resolve, reject);
    });
    await inSlices(this.#workers.values(), this.clock, (worker) => worker.abandon());
    this.workers.heartbeat?.stop();
    const queues = this.#held();
    const count = queues.reduce((sum, each) => sum + each.count, 0);
    if (count > 0) this.events.emit('shutdown-timed-out', { count, queues });
  }

  /** The number of messages held for each queue or family that holds any. */
  #held(): HeldByQueue[] {
    const counts = [...this.#workers].map(([queue, { held }]) => ({ queue, count: held }));
    return counts.filter(({ count }) => count > 0);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.stores.close();
  }

  #ofAllInstances(): DelayQueueRuntime[] {
    return this.app.get(DelayQueueRuntime, { strict: false, each: true });
  }

  /** Closes everything if startup fails, because Nest then calls no shutdown hooks. */
  async #orCloseAll(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      await this.onModuleDestroy();
      await Promise.all(this.#ofAllInstances().map(({ stores }) => stores.close()));
      throw error;
    }
  }

  async #prepare(): Promise<void> {
    await this.queues.checkOptions(this.clock);
    await this.misspeltNames.compareHandled(this.clock);
    this.stores.connect();
    await this.#check();
  }

  async #check(): Promise<void> {
    const handled: CheckedQueue[] = [];
    if (this.options.consume) {
      await inSlices(this.handlers.handled(), this.clock, (declared) => handled.push(this.#checked(declared)));
    }
    try {
      await this.stores.check(handled);
    } catch (error) {
      if (isVerdict(error) || hasCode(error, 'INVALID_OPTION')) throw error;
      // The application may be up before Redis is. The check runs once Redis answers.
      this.events.note('unchecked', { reason: showFailure(error) });
    }
  }

  #checked({ name }: DeclaredQueue): CheckedQueue {
    return isFamily(name) ? { name, options: this.queues.optionsOf(name) } : this.queues.get(name);
  }

  #reportHandlersNotStarted(): void {
    const handlers = this.handlers.handled().flatMap(startEvents);
    if (handlers.length > 0) this.events.note('handlers-not-started', { handlers });
  }

  async #start(): Promise<void> {
    this.stores.started();
    const handled = this.options.consume ? this.handlers.handled() : [];
    await inSlices(handled, this.clock, (declared) => {
      // The application may be asked to stop while it is still starting.
      if (this.#stopping) return;
      const worker = this.workers.open(declared);
      // Registered before it starts, so that it is stopped even if starting fails halfway.
      this.#workers.set(declared.name, worker);
      worker.start();
      this.stores.groupsCheck?.compare(declared.name, this.#checked(declared).options);
      for (const event of startEvents(declared)) this.events.emit('handler-started', event);
    });
    if (this.#stopping) return;
    this.registrar.started(handled.map(({ name }) => name));
    if (handled.length > 0) {
      this.workers.heartbeat?.start(this.#workers);
      this.shutdownHint?.start();
    }
    if (this.options.consume) await this.startTask?.run();
  }

  async #stop(): Promise<void> {
    const { shutdownTimeout } = this.options;
    const until = this.clock.wall() + shutdownTimeout;
    const reserve = Math.min(shutdownTimeout / 5, MAX_ABORT_RESERVE);
    const cancelAbort = this.clock.schedule(
      () => this.#workers.forEach((worker) => worker.abortHandlers()),
      shutdownTimeout - reserve,
    );
    await allInSlices(this.#workers.values(), this.clock, (worker) => worker.stopClaiming());
    // By now, claimed messages that were not started have been released.
    const queues = this.#held();
    if (queues.length > 0) this.events.note('shutdown-waiting', { queues, until: new Date(until) });
    await allInSlices(this.#workers.values(), this.clock, (worker) => worker.drained());
    cancelAbort();
  }
}

function startEvents({ name: queue, handlers }: DeclaredQueue): DelayQueueEvents['handler-started'][] {
  return [...handlers.values()].map(({ type, name: handler }) => ({ queue, type, handler }));
}

/**
 * Runs `start` after the application's last bootstrap hook. The application's startup waits for `start`, and fails if `start` does.
 *
 * No handler may run until every module is up. Nest calls hooks module by module, from the farthest module to the root, so a global
 * module's own `onApplicationBootstrap` runs long before a slow hook of another module has ended. Within a module, the module's own class
 * comes last. So the very last hook is that of the root module's class, and `start` is appended to it.
 */
function afterBootstrap(modules: ModulesContainer, start: () => Promise<void>): void {
  const root = [...modules.values()].reduce((nearest, module) =>
    module.distance <= nearest.distance ? module : nearest,
  );
  const instance = root.instance as Partial<OnApplicationBootstrap>;
  const ownHook = instance.onApplicationBootstrap?.bind(instance);
  instance.onApplicationBootstrap = async () => {
    await ownHook?.();
    await start();
  };
}
