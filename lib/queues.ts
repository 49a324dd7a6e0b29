import { Inject, Injectable } from '@nestjs/common';
import {
  type ResolvedModuleOptions,
  type ResolvedQueueOptions,
  resolveQueueOptions,
} from './delay-queue.options.schema.js';
import { RESOLVED_OPTIONS, STORES } from './delay-queue.tokens.js';
import { HandlerRegistry } from './handler/handler.registry.js';
import type { Stores } from './store/create-stores.js';
import type { MessageStore } from './store/message-store.js';

/** A queue as this process knows it. */
export interface Queue {
  readonly name: string;
  readonly options: ResolvedQueueOptions;
  readonly store: MessageStore;
}

/** The queues of this process, made when they are first used: producers may offer to any name. */
@Injectable()
export class Queues {
  readonly #queues = new Map<string, Queue>();

  constructor(
    @Inject(RESOLVED_OPTIONS) private readonly options: ResolvedModuleOptions,
    @Inject(STORES) private readonly stores: Stores,
    private readonly handlers: HandlerRegistry,
  ) {}

  /** @param name - a valid queue name */
  get(name: string): Queue {
    let queue = this.#queues.get(name);
    if (!queue) {
      const options = this.#resolve(name);
      queue = { name, options, store: this.stores.open(name, options) };
      this.#queues.set(name, queue);
    }
    return queue;
  }

  /**
   * Resolves the options of every queue that is configured or handled, so that a mistake shows at start-up.
   *
   * @throws DelayQueueError `INVALID_OPTION`
   */
  checkOptions(): void {
    const names = [...Object.keys(this.options.queues), ...this.handlers.all().map(({ queue }) => queue)];
    for (const name of names) this.#resolve(name);
  }

  #resolve(name: string): ResolvedQueueOptions {
    const configured = Object.hasOwn(this.options.queues, name) ? this.options.queues[name] : undefined;
    return resolveQueueOptions(this.options.defaults, configured ?? {}, this.handlers.find(name)?.options ?? {});
  }
}
