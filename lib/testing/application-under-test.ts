import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { readContent } from '../message/codec/read-content.js';
import { Events } from '../events/events.js';
import { HandlerRegistry } from '../handler/handler-registry.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { NO_TYPE } from '../message/message-type.js';
import type { ResolvedModuleOptions } from '../options/module-options-schema.js';
import { RESOLVED_OPTIONS, SUBSTITUTES } from '../runtime/delay-queue-tokens.js';
import { Queues } from '../runtime/queues.js';
import { closed, type Described } from './problems.js';
import { TestBench } from './test-bench.js';
import { TimeMachine } from './time-machine.js';
import type { WatchedStore } from './watched-store.js';

/** What the tester needs to know of the delay queue of the application. */
export interface ApplicationParts {
  readonly queues: Queues;
  readonly handlers: HandlerRegistry;
  readonly options: ResolvedModuleOptions;
  readonly events: Events;
}

/** The application that a test has made, from when it is compiled until it has closed. */
@Injectable()
export class ApplicationUnderTest implements OnModuleInit, OnApplicationBootstrap {
  #parts: ApplicationParts | undefined;
  #time: TimeMachine | undefined;

  constructor(
    private readonly modules: ModuleRef,
    @Inject(SUBSTITUTES) readonly bench: TestBench,
  ) {}

  onModuleInit(): void {
    this.#parts = this.#findParts();
  }

  onApplicationBootstrap(): void {
    const { handlers } = this.parts;
    this.bench.follow((queue) => handlers.servedBy(queue) !== undefined);
    this.#time = new TimeMachine(this.bench, (store) => this.#describe(store));
  }

  /**
   * @throws DelayQueueError `INVALID_OPTION` if the application has no delay queue, or the testing module is there twice
   */
  get parts(): ApplicationParts {
    return (this.#parts ??= this.#findParts());
  }

  /** Undefined: it has not started. */
  get time(): TimeMachine | undefined {
    return this.#time;
  }

  /**
   * What moves time, if the application is there to follow.
   *
   * @param call - who asks
   * @throws DelayQueueError `INVALID_OPTION`, `NOT_STARTED`, `CLOSED`
   */
  timeFor(call: string): TimeMachine {
    // A missing delay queue is the better explanation.
    void this.parts;
    if (this.bench.isClosing) throw closed(call);
    if (this.#time) return this.#time;
    const problem = `${call}: the application has not started, so its handlers are not known`;
    throw new DelayQueueError('NOT_STARTED', `${problem}: await init() after compile()`);
  }

  #findParts(): ApplicationParts {
    const strict = { strict: false };
    let parts: ApplicationParts;
    try {
      parts = {
        queues: this.modules.get(Queues, strict),
        handlers: this.modules.get(HandlerRegistry, strict),
        options: this.modules.get<ResolvedModuleOptions>(RESOLVED_OPTIONS, strict),
        events: this.modules.get(Events, strict),
      };
    } catch (cause) {
      throw refusal('without DelayQueueModule: import DelayQueueModule.forRoot() as well', cause);
    }
    if (!this.bench.isUsed) throw refusal('twice: import it once, with or without startAt()');
    return parts;
  }

  /** The message that a queue is busy with, else the one that is due next. */
  #describe(store: WatchedStore): Described {
    const { queue } = store;
    const message = store.first('active') ?? store.first('ready') ?? store.first('delayed');
    const type = message ? readContent(this.parts.queues.get(queue).codec, message.body).type : NO_TYPE;
    const handlers = this.parts.handlers.servedBy(queue)?.handlers;
    return { queue, id: message?.id, type, handler: (handlers?.get(type) ?? handlers?.get(NO_TYPE))?.name };
  }
}

function refusal(problem: string, cause?: unknown): DelayQueueError {
  return new DelayQueueError('INVALID_OPTION', `DelayQueueTestingModule is imported ${problem}`, { cause });
}
