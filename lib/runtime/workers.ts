import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { Events } from '../events/events.js';
import { FailureStreak, workFailures } from '../events/failure-streak.js';
import type { Hooks } from '../message/delay-queue-observer.js';
import { QueueWorker } from '../consumer/queue-worker.js';
import { createRunner } from './create-runner.js';
import { Family, type QueueRemains } from '../families/family.js';
import { Heartbeat } from '../heartbeat/heartbeat.js';
import { History } from '../history/history.js';
import { AgainAdvice } from './again-advice.js';
import { type DeclaredQueue, HandlerRegistry } from '../handler/handler-registry.js';
import { isFamily } from '../message/queue-name.js';
import type { ResolvedModuleOptions } from '../options/module-options-schema.js';
import type { HandlingWorker } from '../store/consumer-store.js';
import type { Clock } from '../timing/clock.js';
import type { Stores } from './create-stores.js';
import {
  CLOCK,
  type HandledRepeats,
  HOOKS,
  RANDOM,
  REPEATS,
  RESOLVED_OPTIONS,
  STORES,
  TEST_OVERRIDES,
} from './delay-queue-tokens.js';
import { type ConfiguredHandler, type Queue, Queues } from './queues.js';

/** Serves a queue or a family. */
export type Worker = QueueWorker | Family;

/** Creates the workers of the queues and families that this process handles. */
@Injectable()
export class Workers {
  /** Distinguishes this process from others: its schedulers, its reports, and what it has handled. */
  readonly #processId = randomBytes(9).toString('base64url');
  /** Undefined if this process is not to be listed. */
  readonly heartbeat: Heartbeat | undefined;

  constructor(
    @Inject(RESOLVED_OPTIONS) private readonly options: ResolvedModuleOptions,
    @Inject(STORES) private readonly stores: Stores,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: () => number,
    @Optional() @Inject(HOOKS) private readonly hooks: Hooks | undefined,
    @Optional() @Inject(REPEATS) private readonly repeats: HandledRepeats | undefined,
    @Optional() @Inject(TEST_OVERRIDES) private readonly overrides: TestOverrides | undefined,
    private readonly events: Events,
    private readonly queues: Queues,
    private readonly handlers: HandlerRegistry,
    private readonly againAdvice: AgainAdvice,
  ) {
    const { workerRegistry: registry } = stores;
    if (options.heartbeat && options.consume && registry) {
      const isConnected = () => stores.isConnected;
      this.heartbeat = new Heartbeat({ id: this.#processId, registry, isConnected, clock, events });
    }
  }

  /** Creates the worker of a queue or family. The caller starts it. */
  open(declared: DeclaredQueue): Worker {
    return isFamily(declared.name) ? this.#family(declared) : this.#open(declared, declared.name);
  }

  /** This process, as the history of a queue names it. */
  get #self(): HandlingWorker {
    return { id: this.#processId, host: hostname(), pid: process.pid };
  }

  async #remainsOf(queue: Queue): Promise<QueueRemains> {
    if (await this.stores.groupsCheck?.ignoresGroups(queue)) return 'messages';
    const { counts, paused, missing } = await queue.store.status();
    const isEmpty = Object.values(counts).every((count) => count === 0) && missing === undefined;
    return isEmpty && !paused ? 'nothing' : 'else';
  }

  #family(declared: DeclaredQueue): Family {
    const { clock, events, random } = this;
    const { name } = declared;
    const { checkInterval } = this.queues.optionsOf(name);
    return new Family({
      name,
      hasGroups: this.queues.familyHasGroups(name),
      has: (queue) => this.handlers.servedBy(queue) === declared,
      directory: this.stores.directory,
      remainsOf: (queue) => this.#remainsOf(this.queues.get(queue)),
      source: {
        open: (queue) => this.#open(declared, queue),
        closed: (queue) => this.againAdvice.unwatch(queue),
      },
      clock,
      streak: new FailureStreak(clock, workFailures(events, 'find-queues', name)),
      random,
      checkInterval,
    });
  }

  #open(declared: DeclaredQueue, name: string): QueueWorker {
    const { clock, events, random, hooks } = this;
    const queue = this.queues.get(name);
    const handlers = this.queues.handlersOf(declared, name).map((each) => this.overrides?.adjust(each) ?? each);
    const parts = { clock, events, random };
    const history = queue.options.history ? new History({ ...parts, queue: name, worker: this.#self }) : undefined;
    const worker = new QueueWorker({
      ...parts,
      queue: name,
      options: queue.options,
      router: queue.router,
      runner: createRunner(queue, handlers, { ...parts, hooks, repeats: this.repeats, history }),
      history,
      processId: this.#processId,
      answerTimeout: this.options.offerTimeout,
      activity: this.heartbeat?.activityOf(declared.name),
      onChecked: this.stores.groupsCheck?.lookerAt(queue),
    });
    this.againAdvice.watch(name, (id) => worker.holds(id));
    return worker;
  }
}

/** Replacements for Redis, time and randomness in tests. */
export interface TestOverrides {
  readonly clock: Clock;
  readonly random: () => number;
  /** Changes how long a handler itself waits, such as for a batch. */
  adjust(handler: ConfiguredHandler): ConfiguredHandler;
  /** Opens the stores of an instance; called once for each. */
  openStores(instance: string, events: Events): Stores;
}
