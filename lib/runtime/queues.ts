import { Inject, Injectable } from '@nestjs/common';
import { type ResolvedModuleOptions } from '../options/module-options.schema.js';
import { type ResolvedQueueOptions } from '../options/queue-options.schema.js';
import { resolveOptionsOf, resolveQueueOptions } from '../options/resolve-options.js';
import { RESOLVED_OPTIONS, STORES } from './delay-queue.tokens.js';
import { type DelayedMessageHandler, type DeclaredQueue, HandlerRegistry } from '../handler/handler.registry.js';
import { typesOf } from '../definition/queue-definition.js';
import { DelayQueueError } from '../message/delay-queue.errors.js';
import { NO_TYPE } from '../message/message-type.js';
import type { QueueOptions } from '../options/queue-options.js';
import type { Stores } from './create-stores.js';
import type { MessageCodec } from '../codec/message-codec.js';
import type { MessageStore } from '../store/message-store.js';
import { assertQueueName } from '../message/queue-name.js';
import { codecOf } from './queue-codec.js';
import { RecentlyUsed } from './recently-used.js';

/** A queue as this process knows it. */
export interface Queue {
  readonly name: string;
  readonly options: ResolvedQueueOptions;
  /** Encodes payloads and headers for its layout. */
  readonly codec: MessageCodec;
  readonly store: MessageStore;
}

/** A handler with the options that hold for its messages. */
export interface ConfiguredHandler {
  readonly handler: DelayedMessageHandler;
  readonly options: ResolvedQueueOptions;
}

/** How many queues are kept that are neither handled nor configured; it is cheap to create one again. */
const MOST_OTHERS = 1000;

/** The queues of this process, created when they are first used: producers may offer to any name. */
@Injectable()
export class Queues {
  /** The queues that are handled or configured. */
  readonly #known = new Map<string, Queue>();
  readonly #others = new RecentlyUsed<Queue>(MOST_OTHERS);
  #optionsOfOthers: ResolvedQueueOptions | undefined;

  constructor(
    @Inject(RESOLVED_OPTIONS) private readonly options: ResolvedModuleOptions,
    @Inject(STORES) private readonly stores: Stores,
    private readonly handlers: HandlerRegistry,
  ) {}

  /**
   * The queue of a name that a user gave.
   *
   * @throws DelayQueueError `INVALID_ARGUMENT`
   */
  named(name: string): Queue {
    assertQueueName(name);
    return this.get(name);
  }

  /** @param name - a valid queue name */
  get(name: string): Queue {
    const known = this.#known.get(name);
    if (known) return known;
    if (!this.#isKnown(name)) return this.#others.get(name, () => this.#open(name, this.#resolveOthers()));
    const queue = this.#open(name, this.#resolve(name));
    this.#known.set(name, queue);
    return queue;
  }

  /**
   * Resolves the options of every queue that is configured or handled, so that a mistake shows at start-up.
   *
   * @throws DelayQueueError `INVALID_OPTION`
   */
  checkOptions(): void {
    const names = [...Object.keys(this.options.queues), ...this.handlers.all().map(({ name }) => name)];
    for (const name of names) {
      const { layout } = this.#resolve(name);
      if (layout === 'redisson') refuseTypes(this.handlers.find(name));
    }
  }

  /** The handlers of a queue, with their options. The queue's entry in `queues` applies to each of them. */
  handlersOf({ name, options, handlers }: DeclaredQueue): ConfiguredHandler[] {
    return [...handlers.values()].map((handler) => ({
      handler,
      options: resolveOptionsOf(name, this.options.defaults, options, handler.options, this.#configured(name)),
    }));
  }

  #isKnown(name: string): boolean {
    return Object.hasOwn(this.options.queues, name) || this.handlers.find(name) !== undefined;
  }

  #open(name: string, options: ResolvedQueueOptions): Queue {
    return { name, options, codec: codecOf(options), store: this.stores.open(name, options) };
  }

  #resolveOthers(): ResolvedQueueOptions {
    return (this.#optionsOfOthers ??= resolveQueueOptions(this.options.defaults));
  }

  #resolve(name: string): ResolvedQueueOptions {
    const declared = this.handlers.find(name)?.options ?? {};
    // What the deployment configures overrides what the code declares.
    return resolveOptionsOf(name, this.options.defaults, declared, this.#configured(name));
  }

  #configured(name: string): QueueOptions {
    const { queues } = this.options;
    return Object.hasOwn(queues, name) ? queues[name]! : {};
  }
}

/** Java's side would get the payload without its type. */
function refuseTypes(queue: DeclaredQueue | undefined): void {
  if (queue?.definition && typesOf(queue.definition)) {
    throw new DelayQueueError(
      'INVALID_OPTION',
      `Queue '${queue.name}' has layout 'redisson', whose messages have no type: define it with one payload, or a queue for each`,
    );
  }
  const typed = [...(queue?.handlers.values() ?? [])].find(({ type }) => type !== NO_TYPE);
  if (!typed) return;
  throw new DelayQueueError(
    'INVALID_HANDLER',
    `@DelayedHandler on ${typed.name}: queue '${queue!.name}' has layout 'redisson', whose messages have no type; ` +
      'handle the queue without one, or use a queue for each type',
  );
}
