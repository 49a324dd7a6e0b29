import { randomBytes } from 'node:crypto';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { Events } from '../events/events.js';
import { Observers } from '../events/observers.js';
import type { Prospect } from '../family/family-member.js';
import { Family } from '../family/family.js';
import { AgainAdvice } from '../handler/again-advice.js';
import { type DeclaredQueue, HandlerRegistry } from '../handler/handler.registry.js';
import { isFamily } from '../message/queue-family.js';
import type { ResolvedModuleOptions } from '../options/module-options.schema.js';
import type { Clock } from '../timing/clock.js';
import type { MessageStore } from '../store/message-store.js';
import { withAll } from '../store/partitioned/partitions.js';
import { TransferScheduler } from '../transfer/transfer.scheduler.js';
import type { Stores } from './create-stores.js';
import { CLOCK, RANDOM, RESOLVED_OPTIONS, STORES, SUBSTITUTES } from './delay-queue.tokens.js';
import { QueueWorker } from './queue-worker.js';
import { Queues } from './queues.js';
import type { Substitutes } from './substitutes.js';

/** What serves a queue, or a family of queues. */
export type Worker = QueueWorker | Family;

/** Starts what serves the handled queues of this process. */
@Injectable()
export class Workers {
  /** Distinguishes the schedulers of this process from those of others. */
  readonly #processId = randomBytes(9).toString('base64url');

  constructor(
    @Inject(RESOLVED_OPTIONS) private readonly options: ResolvedModuleOptions,
    @Inject(STORES) private readonly stores: Stores,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: () => number,
    @Optional() @Inject(SUBSTITUTES) private readonly substitutes: Substitutes | undefined,
    private readonly events: Events,
    private readonly observers: Observers,
    private readonly queues: Queues,
    private readonly handlers: HandlerRegistry,
    private readonly againAdvice: AgainAdvice,
  ) {}

  start(declared: DeclaredQueue): Worker {
    const worker = isFamily(declared.name) ? this.#family(declared) : this.#open(declared, declared.name);
    worker.start();
    return worker;
  }

  #family(declared: DeclaredQueue): Family {
    const { clock, events, random } = this;
    const { name } = declared;
    return new Family({
      name,
      has: (queue) => this.handlers.servedBy(queue) === declared,
      directory: this.stores.directory,
      source: {
        look: (queue) => this.#look(queue),
        open: (queue) => this.#open(declared, queue),
        closed: (queue) => this.againAdvice.unwatch(queue),
      },
      clock,
      events,
      random,
      checkInterval: this.queues.optionsOfFamily(name).checkInterval,
    });
  }

  /** Makes what serves a queue. */
  #open(declared: DeclaredQueue, name: string): QueueWorker {
    const { clock, events, random, observers } = this;
    const worker = new QueueWorker({
      queue: this.queues.get(name),
      handlers: this.queues.handlersOf(declared, name).map((each) => this.substitutes?.adjust(each) ?? each),
      clock,
      events,
      random,
      observers,
      processId: this.#processId,
      answerTimeout: this.options.offerTimeout,
    });
    this.againAdvice.watch(name, (id) => worker.holds(id));
    return worker;
  }

  /** A transfer in each partition, without schedulers that go on. */
  async #look(name: string): Promise<Prospect> {
    const { clock, events } = this;
    const { partitions, options } = this.queues.get(name);
    const { checkInterval } = options;
    const look = (store: MessageStore) =>
      new TransferScheduler({ queue: name, store, clock, events, id: this.#processId, checkInterval }).runOnce();
    return mergedProspect(await withAll(partitions, (stores) => Promise.all(stores.map(look))));
  }
}

function mergedProspect(prospects: readonly Prospect[]): Prospect {
  const ready = prospects.reduce((sum, prospect) => sum + prospect.ready, 0);
  const next = Math.min(...prospects.map(({ nextIn }) => nextIn ?? Infinity));
  return { ready, nextIn: next === Infinity ? null : next };
}
