import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { readContent } from '../message/codec/message-codec.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { NO_TYPE } from '../message/message-id.js';
import { TEST_OVERRIDES } from '../runtime/delay-queue-tokens.js';
import { findInstance, type Instance, instancesOf } from '../runtime/instance.js';
import { closed, type Described } from './problems.js';
import { TestBench } from './test-bench.js';
import { TimeMachine } from './time-machine.js';
import type { WatchedStore } from './watched-store.js';

/** The application of a test, from its compilation until it has closed. */
@Injectable()
export class ApplicationUnderTest implements OnModuleInit, OnApplicationBootstrap {
  #instances: readonly Instance[] | undefined;
  #time: TimeMachine | undefined;

  constructor(
    private readonly modules: ModuleRef,
    @Inject(TEST_OVERRIDES) readonly bench: TestBench,
  ) {}

  onModuleInit(): void {
    this.#instances = this.#findInstances();
  }

  onApplicationBootstrap(): void {
    for (const { name, handlers } of this.instances) {
      this.bench.queuesOf(name).follow((queue) => handlers.servedBy(queue) !== undefined);
    }
    this.#time = new TimeMachine(this.bench, (store) => this.#describe(store));
  }

  /** @throws DelayQueueError `INVALID_OPTION` if the application has no delay queue, or imports the testing module twice */
  get instances(): readonly Instance[] {
    return (this.#instances ??= this.#findInstances());
  }

  /** @throws DelayQueueError `INVALID_OPTION` as {@link instances}, and if there is no instance of this name */
  instance(name: string): Instance {
    // If there is no delay queue at all, this throws first, with the more helpful error.
    void this.instances;
    return findInstance(this.modules, name);
  }

  /** The time machine; undefined before the application has started. */
  get time(): TimeMachine | undefined {
    return this.#time;
  }

  /**
   * Returns the time machine of a running application. Throws `INVALID_OPTION`, `NOT_STARTED` or `CLOSED`.
   * @param call - the name of the calling method, for errors
   */
  timeFor(call: string): TimeMachine {
    // If there is no delay queue at all, this throws first, with the more helpful error.
    void this.instances;
    if (this.bench.isClosing) throw closed(call);
    if (this.#time) return this.#time;
    const problem = `${call}: the application has not started, so its handlers are not known`;
    throw new DelayQueueError('NOT_STARTED', `${problem}: await init() after compile()`);
  }

  #findInstances(): readonly Instance[] {
    let instances: readonly Instance[];
    try {
      instances = instancesOf(this.modules);
    } catch (cause) {
      throw refusal(
        'without DelayQueueModule of the same copy of the package: import DelayQueueModule.forRoot() as well',
        cause,
      );
    }
    if (!this.bench.isUsed) throw refusal('twice: import it once, with or without startAt()');
    return instances;
  }

  /** Describes the message that a queue is busy with, or else its next due message. */
  #describe(store: WatchedStore): Described {
    const { queue } = store;
    const { queues, handlers: registry } = this.instance(store.instance);
    const message = store.first('active') ?? store.first('ready') ?? store.first('delayed');
    const type = message ? readContent(queues.get(queue).codec, message.body).type : NO_TYPE;
    const handlers = registry.servedBy(queue)?.handlers;
    return { queue, id: message?.id, type, handler: (handlers?.get(type) ?? handlers?.get(NO_TYPE))?.name };
  }
}

function refusal(problem: string, cause?: unknown): DelayQueueError {
  return new DelayQueueError('INVALID_OPTION', `DelayQueueTestingModule is imported ${problem}`, { cause });
}
