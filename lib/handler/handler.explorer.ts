import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import { DelayQueueError } from '../message/delay-queue.errors.js';
import { definitionOf } from '../definition/queue-definition.js';
import { type HandlerDeclaration, readDeclaration } from './handler-declaration.js';
import { declarationsOf } from './delayed-handler.decorator.js';
import { type DelayedMessageHandler, HandlerRegistry } from './handler.registry.js';

type Method = DelayedMessageHandler['call'];

/** Finds the decorated methods of all providers and controllers, inherited ones too, before anything starts. */
@Injectable()
export class HandlerExplorer implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly registry: HandlerRegistry,
  ) {}

  /**
   * @throws DelayQueueError `INVALID_HANDLER`, `INVALID_OPTION`, naming class and method
   */
  onModuleInit(): void {
    for (const wrapper of [...this.discovery.getProviders(), ...this.discovery.getControllers()]) {
      // An alias has the same instance as its target.
      if (!wrapper.isAlias) this.#explore(wrapper);
    }
    this.registry.check();
  }

  #explore(wrapper: InstanceWrapper): void {
    const definition = definitionOf(wrapper.metatype);
    if (definition) this.registry.define(definition, String(wrapper.name));
    const prototype = prototypeOf(wrapper);
    if (!prototype) return;
    for (const methodName of this.scanner.getAllMethodNames(prototype)) {
      const method = (prototype as Record<string, unknown>)[methodName] as object;
      for (const declaration of declarationsOf(method)) {
        this.#register(wrapper, methodName, declaration);
      }
    }
  }

  #register(wrapper: InstanceWrapper, methodName: string, declaration: HandlerDeclaration): void {
    const name = `${String(wrapper.name)}.${methodName}`;
    const place = `@DelayedHandler on ${name}`;
    const { queue, type, options, queueOptions, batch, definition, check } = readDeclaration(declaration, place);
    if (definition) this.registry.define(definition, (declaration.queue as { readonly name: string }).name);
    if (!wrapper.isDependencyTreeStatic() || wrapper.isTransient) {
      throw new DelayQueueError(
        'INVALID_HANDLER',
        `${place}: the class, or something it injects, is request-scoped or transient, so there is no single instance to call. ` +
          'Make it a singleton, and resolve scoped providers inside the method with ModuleRef.',
      );
    }
    // Looked up at each call, so that a replacement (a spy, a proxy) is called.
    const instance = wrapper.instance as Record<string, Method>;
    const call: Method = (payload, message) => instance[methodName]?.(payload, message);
    this.registry.add(queue, { name, type, options, batch, check, call }, queueOptions);
  }
}

/** A scoped provider has no instance, so its class is used. */
function prototypeOf({ instance, metatype }: InstanceWrapper): object | undefined {
  if (typeof instance === 'object' && instance !== null) return Object.getPrototypeOf(instance) as object;
  return typeof metatype === 'function' ? (metatype.prototype as object | undefined) : undefined;
}
