import { Inject, Injectable } from '@nestjs/common';
import { type ResolvedModuleOptions } from '../options/module-options.schema.js';
import { type ResolvedQueueOptions } from '../options/queue-options.schema.js';
import { resolveOptionsOf, resolveQueueOptions } from '../options/resolve-options.js';
import { RESOLVED_OPTIONS, STORES } from './delay-queue.tokens.js';
import { HandlerRegistry } from '../handler/handler.registry.js';
import type { Stores } from './create-stores.js';
import type { MessageCodec } from '../codec/message-codec.js';
import type { MessageStore } from '../store/message-store.js';
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
    for (const name of names) this.#resolve(name);
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
    const configured = Object.hasOwn(this.options.queues, name) ? this.options.queues[name] : undefined;
    const declared = this.handlers.find(name)?.options ?? {};
    // What the deployment configures overrides what the code declares.
    return resolveOptionsOf(name, this.options.defaults, declared, configured ?? {});
  }
}
