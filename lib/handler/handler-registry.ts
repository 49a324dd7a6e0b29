import { Injectable } from '@nestjs/common';
import { isSameDefinition, type QueueDefinition } from '../options/queue-definition.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { NO_TYPE } from '../message/message-id.js';
import { familyOf, isFamily } from '../message/queue-name.js';
import type { HandlerRepeat, HandlerSettings, QueueOptions } from '../options/queue-options.js';
import type { DelayedMessage } from '../message/message.js';
import type { BatchSize } from '../options/queue-options-schema.js';
import type { PayloadCheck } from '../message/payload-check.js';

/** A queue or family that this application's code handles or defines. */
export interface DeclaredQueue {
  /** The name of the queue, or the beginning of the family's names followed by `*`. */
  readonly name: string;
  /** The options declared by the queue's decorator or class. */
  readonly options: QueueOptions;
  readonly definition?: QueueDefinition | undefined;
  /** The handlers by type. */
  readonly handlers: ReadonlyMap<string, DelayedMessageHandler>;
}

class Declarations implements DeclaredQueue {
  readonly handlers = new Map<string, DelayedMessageHandler>();
  definition: QueueDefinition | undefined;
  definedBy = '';
  /** The options declared by the handler without a type. */
  handlerOptions: QueueOptions = {};

  constructor(readonly name: string) {}

  get options(): QueueOptions {
    return this.definition?.options ?? this.handlerOptions;
  }
}

/** The queues and families that this application's code declares, with their handlers. */
@Injectable()
export class HandlerRegistry {
  readonly #queues = new Map<string, Declarations>();
  readonly #families = new Set<string>();

  /**
   * Adds a handler to a queue. Throws `INVALID_HANDLER` if the queue already has one for this type.
   * @param options - the options of the queue, if the handler may declare them
   */
  add(name: string, handler: DelayedMessageHandler, options: QueueOptions = {}): void {
    const queue = this.#declared(name);
    const other = queue.handlers.get(handler.type);
    if (other) throw twoHandlers(name, other, handler);
    queue.handlers.set(handler.type, handler);
    if (handler.type === NO_TYPE) queue.handlerOptions = options;
  }

  /** Adds the definition of a queue. Throws `INVALID_OPTION` if another class defines the queue differently. */
  define(definition: QueueDefinition, definedBy: string): void {
    const queue = this.#declared(definition.queue);
    if (queue.definition && !isSameDefinition(queue.definition, definition)) {
      throw new DelayQueueError(
        'INVALID_OPTION',
        `Queue '${queue.name}' has two definitions that differ, ${queue.definedBy} and ${definedBy}: use one class for it`,
      );
    }
    queue.definition ??= definition;
    queue.definedBy ||= definedBy;
  }

  /** Throws `INVALID_OPTION` if a queue's options are declared in two places. Called once all handlers and definitions have been found. */
  check(): void {
    for (const { name, definition, definedBy, handlers, handlerOptions } of this.#queues.values()) {
      if (!definition || Object.keys(handlerOptions).length === 0) continue;
      throw new DelayQueueError(
        'INVALID_OPTION',
        `@DelayedHandler on ${handlers.get(NO_TYPE)!.name}: queue '${name}' is defined by ${definedBy}; set its options there`,
      );
    }
  }

  find(name: string): DeclaredQueue | undefined {
    return this.#queues.get(name);
  }

  /** Returns the family of a queue; if several match, the one with the longest name. */
  familyOf(queue: string): DeclaredQueue | undefined {
    const name = familyOf(queue, this.#families);
    return name === undefined ? undefined : this.#queues.get(name);
  }

  /** Returns the queue's own declaration if it has handlers, otherwise its family's. */
  servedBy(queue: string): DeclaredQueue | undefined {
    const own = this.#queues.get(queue);
    return own && own.handlers.size > 0 ? own : this.familyOf(queue);
  }

  all(): DeclaredQueue[] {
    return [...this.#queues.values()];
  }

  /** Returns all queues and families that have handlers. */
  handled(): DeclaredQueue[] {
    return this.all().filter(({ handlers }) => handlers.size > 0);
  }

  #declared(name: string): Declarations {
    const queue = this.#queues.get(name) ?? new Declarations(name);
    this.#queues.set(name, queue);
    if (isFamily(name)) this.#families.add(name);
    return queue;
  }
}

function twoHandlers(queue: string, one: DelayedMessageHandler, other: DelayedMessageHandler): DelayQueueError {
  const what = one.type === NO_TYPE ? `Queue '${queue}'` : `Type '${one.type}' of queue '${queue}'`;
  const both = `${what} has two handlers, ${one.name} and ${other.name}`;
  return new DelayQueueError('INVALID_HANDLER', `${both}${adviceOn(one, other)}`);
}

function adviceOn(one: DelayedMessageHandler, other: DelayedMessageHandler): string {
  const names = one.type === NO_TYPE ? 'a type or another queue' : 'another type';
  if (one.name !== other.name) return `: remove one, or give it ${names}`;
  // Two handlers of the same name usually come from a class that is provided twice.
  return one.module === other.module
    ? `, of ${one.module}: provide the class once there (useExisting makes an alias), or give one ${names}`
    : `, of ${one.module} and of ${other.module}: provide the class in one of these modules, and export it there, or give one ${names}`;
}

/** What a handler receives: a message, or an array of them if it takes batches. */
export type HandlerMessage = DelayedMessage | readonly DelayedMessage[];

/** Calls a handler with a payload and its message or, for a batch, with an array of each. */
export type HandlerCall = (payload: unknown, message: HandlerMessage) => unknown;

/** A method that handles messages, bound to its instance. */
export interface DelayedMessageHandler {
  /** Class and method, for errors. */
  readonly name: string;
  /** The module of the handler's class, for errors. */
  readonly module?: string;
  /** The only type handled; empty for all types without their own handlers. */
  readonly type: string;
  readonly options: HandlerSettings;
  /** Checks the payload before the call. The handler gets the output of the check. */
  readonly check?: PayloadCheck | undefined;
  /** Set if the handler takes batches. */
  readonly batch?: BatchSize | undefined;
  /** Set if the handler declares a repeating message. */
  readonly repeat?: HandlerRepeat | undefined;
  readonly call: HandlerCall;
}
