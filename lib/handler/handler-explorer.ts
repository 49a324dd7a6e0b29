import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { systemClock } from '../timing/clock.js';
import { inSlices } from '../timing/event-loop.js';
import { type ClassMethod, exploreClasses, fullNameOf } from './class-explorer.js';
import { assertCallable, assertInjected } from './declaration-checks.js';
import type { DeclaredMethod } from './declared-methods.js';
import {
  checksOf,
  definitionOf,
  instanceOfQueue,
  type QueueDefinition,
  retriesOf,
  typesOf,
} from '../options/queue-definition.js';
import { declaredHandlers, type HandlerDeclaration, placeOf } from './delayed-handler-decorator.js';
import { HandlerCalls } from './handler-calls.js';
import { HandlerRegistry } from './handler-registry.js';
import { InstanceNames } from './instance-names.js';
import type { InstanceWrapper } from './nest-internals.js';
import type { PayloadCheck } from '../message/payload-check.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { isMessageType, MESSAGE_TYPE_RULE, NO_TYPE } from '../message/message-id.js';
import { QUEUE_FAMILY, QUEUE_NAME, QUEUE_OR_FAMILY_RULE } from '../message/queue-name.js';
import { showGiven } from '../message/show-given.js';
import { readHandlerOptions, type ReadHandlerOptions, readQueueHandlerOptions } from '../options/resolve-options.js';

/** Finds this instance's decorated methods in all providers and controllers, including inherited ones, before anything starts. */
@Injectable()
export class HandlerExplorer implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly registry: HandlerRegistry,
    private readonly calls: HandlerCalls,
    private readonly instances: InstanceNames,
  ) {}

  async onModuleInit(): Promise<void> {
    const found: [InstanceWrapper, prototype: object][] = [];
    await exploreClasses(this.discovery, (host, prototype) => {
      this.#define(host);
      if (prototype) found.push([host, prototype]);
    });
    await inSlices(methodsOf(found), systemClock, ([method, declared]) => this.#register(method, declared));
    this.registry.check();
  }

  #define({ metatype, name }: InstanceWrapper): void {
    const definition = definitionOf(metatype);
    if (!definition) return;
    const place = `Queue '${definition.queue}', defined by ${String(name)}`;
    if (this.instances.isOwn(definition.instance, { code: 'INVALID_OPTION', place })) {
      this.registry.define(definition, String(name));
    }
  }

  #register(method: ClassMethod, declared: DeclaredMethod<HandlerDeclaration>): void {
    const place = placeOf(method);
    for (const declaration of declared.declarations) {
      const { queue, definition, queueOptions, instance, ...target } = readDeclaration(declaration, place);
      if (!this.instances.isOwn(instance, { code: 'INVALID_HANDLER', place })) continue;
      assertCallable(method, declared, declaredHandlers.kind);
      assertInjected(method.host, place, 'INVALID_HANDLER');
      if (definition) this.registry.define(definition, (declaration.queue as { readonly name: string }).name);
      const handler = { name: fullNameOf(method), module: method.host.host!.name, call: this.calls.of(method) };
      this.registry.add(queue, { ...target, ...handler }, queueOptions);
    }
  }
}

function* methodsOf(
  classes: readonly [InstanceWrapper, prototype: object][],
): Generator<[ClassMethod, DeclaredMethod<HandlerDeclaration>]> {
  for (const [host, prototype] of classes) {
    for (const [name, declared] of declaredHandlers.of(prototype)) yield [{ host, prototype, name }, declared];
  }
}

interface HandlerTarget extends ReadHandlerOptions {
  readonly queue: string;
  readonly definition?: QueueDefinition;
  /** The type handled; empty for all types without their own handlers. */
  readonly type: string;
  readonly check?: PayloadCheck | undefined;
}

function readDeclaration(declaration: HandlerDeclaration, place: string): HandlerTarget {
  const definition = definitionOf(declaration.queue);
  return definition ? ofTypedQueue(definition, declaration, place) : ofName(declaration, place);
}

function ofName({ queue, type, options }: HandlerDeclaration, place: string): HandlerTarget {
  if (typeof queue !== 'string' || !(QUEUE_NAME.test(queue) || QUEUE_FAMILY.test(queue))) {
    const problem = `${QUEUE_OR_FAMILY_RULE}, not ${showGiven(queue)}${adviceOn(queue)}`;
    throw new DelayQueueError('INVALID_HANDLER', `${place}: ${problem}`);
  }
  if (type === undefined) {
    return { queue, type: NO_TYPE, ...readQueueHandlerOptions(options, place) };
  }
  if (!isMessageType(type)) {
    throw new DelayQueueError('INVALID_HANDLER', `${place}: ${MESSAGE_TYPE_RULE}, not ${showGiven(type)}`);
  }
  return { queue, type, ...readHandlerOptions(options, place) };
}

function adviceOn(queue: unknown): string {
  if (typeof queue === 'function') return ', and DelayQueue() did not make this class';
  return queue === '*' ? ': it would also take the messages of other applications' : '';
}

function ofTypedQueue(definition: QueueDefinition, declaration: HandlerDeclaration, place: string): HandlerTarget {
  const { queue } = definition;
  const { type = NO_TYPE, options } = declaration;
  const types = typesOf(definition) ?? [NO_TYPE];
  if (!types.includes(type)) {
    const advice = typesOf(definition) ? `name one of its types: ${types.join(', ')}` : 'its messages have no type';
    const given = type === NO_TYPE ? 'none' : showGiven(type);
    throw new DelayQueueError('INVALID_HANDLER', `${place}: queue '${queue}': ${advice}; given: ${given}`);
  }
  const read = readHandlerOptions(options, place);
  const instance = instanceOfQueue(definition, read.instance, place);
  const repeat = read.repeat && { ...retriesOf(definition).get(type), ...read.repeat };
  return { queue, definition, type, check: checksOf(definition)(type), ...read, repeat, instance };
}
