import { Inject, Injectable } from '@nestjs/common';
import { type ResolvedModuleOptions } from '../options/module-options-schema.js';
import { type ResolvedQueueOptions } from '../options/queue-options-schema.js';
import { resolveOptionsOf, withoutUndefined } from '../options/resolve-options.js';
import { RESOLVED_OPTIONS, STORES } from './delay-queue-tokens.js';
import { type DeclaredQueue, type DelayedMessageHandler, HandlerRegistry } from '../handler/handler-registry.js';
import { typesOf } from '../options/queue-definition.js';
import { assertQueueName, familyOf, isFamily } from '../message/queue-name.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { NO_TYPE } from '../message/message-id.js';
import type { QueueOptions } from '../options/queue-options.js';
import type { Stores } from './create-stores.js';
import type { MessageCodec } from '../message/codec/message-codec.js';
import type { Layout } from '../store/layout.js';
import type { Router } from '../store/router.js';
import { WholeQueue } from '../store/whole-queue.js';
import type { Clock } from '../timing/clock.js';
import { inSlices } from '../timing/event-loop.js';
import { RecentlyUsed } from './recently-used.js';

export class Queue {
  readonly codec: MessageCodec;
  /** All stores of the queue as one. */
  readonly store: WholeQueue;
  /** Number of this process's unanswered offers. Until it is 0, later offers use this object, so that offers stay in order. */
  pendingOffers = 0;

  constructor(
    readonly name: string,
    readonly options: ResolvedQueueOptions,
    readonly router: Router,
  ) {
    this.codec = options.encryption?.codec ?? options.layout.codec;
    this.store = new WholeQueue(router);
  }
}

/** A handler with the options for its messages. */
export interface ConfiguredHandler {
  readonly handler: DelayedMessageHandler;
  readonly options: ResolvedQueueOptions;
}

/** Maximum number of queues kept that are neither handled nor configured. Creating one again is cheap. */
const MAX_OTHERS = 1000;

/** The queues of this process, created on first use, because producers may offer to any name. */
@Injectable()
export class Queues {
  /** Queues that are handled or configured. */
  readonly #known = new Map<string, Queue>();
  readonly #others = new RecentlyUsed<Queue>(
    MAX_OTHERS,
    (name) => this.#open(name, this.#resolveOther(name)),
    ({ pendingOffers }) => pendingOffers > 0,
  );
  /** Options of all other queues, by the families that determine them. */
  readonly #optionsOfOthers = new Map<string, ResolvedQueueOptions>();
  /** Handlers of queues configured only through families, by the families that determine them. */
  readonly #handlersOfOthers = new Map<string, ConfiguredHandler[]>();
  /** Families that are configured. */
  readonly #families: readonly string[];

  constructor(
    @Inject(RESOLVED_OPTIONS) private readonly options: ResolvedModuleOptions,
    @Inject(STORES) private readonly stores: Stores,
    private readonly handlers: HandlerRegistry,
  ) {
    this.#families = Object.keys(options.queues).filter(isFamily);
  }

  /** Returns the queue with a user-supplied name, or throws `INVALID_ARGUMENT`. */
  named(name: string): Queue {
    const known = this.#known.get(name);
    if (known) return known;
    assertQueueName(name);
    return this.get(name);
  }

  /** @param name - a valid queue name */
  get(name: string): Queue {
    const known = this.#known.get(name);
    if (known) return known;
    if (!this.#isKnown(name)) return this.#others.get(name);
    // The queue may have been used before its handler was known.
    const inUse = this.#others.inUse(name);
    if (inUse) return inUse;
    const queue = this.#open(name, this.optionsOf(name));
    this.#known.set(name, queue);
    return queue;
  }

  /** Resolves the options of all configured or handled queues and families, so that mistakes (`INVALID_OPTION`) show at startup. */
  async checkOptions(clock: Pick<Clock, 'monotonic'>): Promise<void> {
    const names = new Set([...Object.keys(this.options.queues), ...this.handlers.all().map(({ name }) => name)]);
    await inSlices(names, clock, (name) => this.#checkOptionsOf(name));
  }

  #checkOptionsOf(name: string): void {
    const options = this.optionsOf(name);
    const { layout } = options;
    const { can } = layout;
    for (const handler of this.handlers.servedBy(name)?.handlers.values() ?? []) {
      if (handler.batch?.isPerGroup) assertGroupsForBatches(name, options, handler);
    }
    if (isFamily(name) && !can.severalQueues) throw sharedLayout(name);
    if (!can.types) refuseTypes(layout, this.handlers.find(name));
    if (can.families) return;
    const family = this.handlers.servedBy(name);
    if (family && isFamily(family.name)) throw unsupportedFamily(layout, name, family);
  }

  /** Returns a queue's handlers with their options. @param name - the queue's own, even if a family's handlers serve it */
  handlersOf(declared: DeclaredQueue, name = declared.name): ConfiguredHandler[] {
    if (this.#isKnown(name)) return this.#configure(declared, name);
    const deciding = `${declared.name} ${familyOf(name, this.#families)}`;
    let handlers = this.#handlersOfOthers.get(deciding);
    if (!handlers) this.#handlersOfOthers.set(deciding, (handlers = this.#configure(declared, name)));
    return handlers;
  }

  /** Resolves the options of a queue, or of a family itself. */
  optionsOf(name: string): ResolvedQueueOptions {
    const declared = (this.handlers.find(name) ?? this.handlers.familyOf(name))?.options ?? {};
    // The deployment's configuration overrides the code's declarations.
    return resolveOptionsOf(name, this.options.defaults, declared, this.#configured(name));
  }

  /** True if messages of any of the family's queues may have groups. */
  familyHasGroups(name: string): boolean {
    const configured = Object.keys(this.options.queues).filter((queue) => this.handlers.servedBy(queue)?.name === name);
    return [name, ...configured].some((queue) => this.optionsOf(queue).groups !== null);
  }

  #configure({ options, handlers }: DeclaredQueue, name: string): ConfiguredHandler[] {
    return [...handlers.values()].map((handler) => ({
      handler,
      options: resolveOptionsOf(name, this.options.defaults, options, handler.options, this.#configured(name)),
    }));
  }

  #isKnown(name: string): boolean {
    return Object.hasOwn(this.options.queues, name) || this.handlers.find(name) !== undefined;
  }

  #open(name: string, options: ResolvedQueueOptions): Queue {
    return new Queue(name, options, this.stores.open(name, options));
  }

  #resolveOther(name: string): ResolvedQueueOptions {
    const deciding = `${this.handlers.familyOf(name)?.name} ${familyOf(name, this.#families)}`;
    let options = this.#optionsOfOthers.get(deciding);
    if (!options) this.#optionsOfOthers.set(deciding, (options = this.optionsOf(name)));
    return options;
  }

  #configured(name: string): QueueOptions {
    const { queues } = this.options;
    const family = familyOf(name, this.#families);
    return {
      ...(family !== undefined && withoutUndefined(queues[family]!)),
      ...(Object.hasOwn(queues, name) && withoutUndefined(queues[name]!)),
    };
  }
}

/** Throws `INVALID_OPTION` if no batch could contain two messages of a group. */
function assertGroupsForBatches(name: string, { groups }: ResolvedQueueOptions, handler: DelayedMessageHandler): void {
  if (groups && groups.concurrency !== 1) return;
  const advice = `such as { concurrency: ${handler.batch!.size} }, or leave batchPerGroup out`;
  const problem = groups
    ? `a batch could have one message only, because queue '${name}' has groups: { concurrency: 1 }; raise that, ${advice}`
    : `queue '${name}' has no groups; set queues['${name}'].groups, ${advice}`;
  throw new DelayQueueError('INVALID_OPTION', `@DelayedHandler on ${handler.name}: batchPerGroup: ${problem}`);
}

function sharedLayout(family: string): DelayQueueError {
  const problem = `queues.${family}.layout cannot be shared by several queues, because it names one: set it for each of them`;
  return new DelayQueueError('INVALID_OPTION', `DelayQueueModule options: ${problem}`);
}

function unsupportedFamily(layout: Layout, name: string, family: DeclaredQueue): DelayQueueError {
  const [handler] = family.handlers.values();
  const advice = name === family.name ? 'handle each queue by its name' : 'give it a handler of its own name';
  return new DelayQueueError(
    'INVALID_HANDLER',
    `@DelayedHandler on ${handler!.name}: '${name}' has layout '${layout.name}', which a family of queues cannot have; ${advice}`,
  );
}

/** Rejects a queue with message types: other consumers of the queue would get the payload without its type. */
function refuseTypes({ name }: Layout, queue: DeclaredQueue | undefined): void {
  if (queue?.definition && typesOf(queue.definition)) {
    throw new DelayQueueError(
      'INVALID_OPTION',
      `Queue '${queue.name}' has layout '${name}', whose messages have no type: define it with one payload, or a queue for each`,
    );
  }
  const typed = [...(queue?.handlers.values() ?? [])].find(({ type }) => type !== NO_TYPE);
  if (!typed) return;
  throw new DelayQueueError(
    'INVALID_HANDLER',
    `@DelayedHandler on ${typed.name}: queue '${queue!.name}' has layout '${name}', whose messages have no type; ` +
      'handle the queue without one, or use a queue for each type',
  );
}
