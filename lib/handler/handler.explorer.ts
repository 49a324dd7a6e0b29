import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { definitionOf } from '../definition/queue-definition.js';
import { declarationsOf } from './delayed-handler.decorator.js';
import { HandlerCalls } from './handler-calls.js';
import type { HandlerDeclaration } from './handler-declaration.js';
import { readDeclaration } from './read-declaration.js';
import { type HandlerMethod, prototypeOf } from './handler-method.js';
import { HandlerRegistry } from './handler.registry.js';
import type { InstanceWrapper } from './nest-internals.js';

/** Finds the decorated methods of all providers and controllers, inherited ones too, before anything starts. */
@Injectable()
export class HandlerExplorer implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly registry: HandlerRegistry,
    private readonly calls: HandlerCalls,
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

  #explore(host: InstanceWrapper): void {
    const definition = definitionOf(host.metatype);
    if (definition) this.registry.define(definition, String(host.name));
    const prototype = prototypeOf(host);
    if (!prototype) return;
    for (const method of this.scanner.getAllMethodNames(prototype)) {
      for (const declaration of declarationsOf((prototype as Record<string, object>)[method]!)) {
        const name = `${String(host.name)}.${method}`;
        this.#register({ host, prototype, name: method, place: `@DelayedHandler on ${name}` }, name, declaration);
      }
    }
  }

  #register(handler: HandlerMethod, name: string, declaration: HandlerDeclaration): void {
    const { queue, definition, queueOptions, ...target } = readDeclaration(declaration, handler.place);
    if (definition) this.registry.define(definition, (declaration.queue as { readonly name: string }).name);
    this.registry.add(queue, { name, ...target, call: this.calls.of(handler) }, queueOptions);
  }
}
