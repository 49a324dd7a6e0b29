import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { definitionOf } from './definition/queue-definition.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { declarationsOf } from './delayed-handler-decorator.js';
import { exploreClasses, type HostedMethod } from './explore-classes.js';
import { HandlerCalls } from './handler-calls.js';
import type { HandlerDeclaration } from './handler-declaration.js';
import { readDeclaration } from './read-declaration.js';
import { decoratedMethod, type HandlerMethod } from './handler-method.js';
import { HandlerRegistry } from './handler-registry.js';
import type { InstanceWrapper } from './nest-internals.js';

/** Where the compiler and `@Inject()` leave what the parameters of a constructor are. */
const KNOWN_PARAMETERS = ['design:paramtypes', 'self:paramtypes'];

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
  async onModuleInit(): Promise<void> {
    await exploreClasses(this.discovery, this.scanner, {
      onClass: (host) => this.#define(host),
      onMethod: (method) => this.#explore(method),
    });
    this.registry.check();
  }

  #define({ metatype, name }: InstanceWrapper): void {
    const definition = definitionOf(metatype);
    if (definition) this.registry.define(definition, String(name));
  }

  #explore(method: HostedMethod): void {
    const name = `${String(method.host.name)}.${method.name}`;
    for (const declaration of declarationsOf(decoratedMethod(method))) {
      this.#register({ ...method, place: `@DelayedHandler on ${name}` }, name, declaration);
    }
  }

  #register(handler: HandlerMethod, name: string, declaration: HandlerDeclaration): void {
    refuseUninjected(handler);
    const { queue, definition, queueOptions, ...target } = readDeclaration(declaration, handler.place);
    if (definition) this.registry.define(definition, (declaration.queue as { readonly name: string }).name);
    this.registry.add(queue, { name, ...target, call: this.calls.of(handler) }, queueOptions);
  }
}

/** Nest calls the constructor of such a class with no arguments, and says nothing. */
function refuseUninjected({ host, place }: HandlerMethod): void {
  const { metatype } = host;
  // What a factory or a value provides is not constructed by Nest.
  if (typeof metatype !== 'function' || host.isNotMetatype || host.inject || metatype.length === 0) return;
  if (KNOWN_PARAMETERS.some((key) => Reflect.hasMetadata(key, metatype))) return;
  throw new DelayQueueError(
    'INVALID_HANDLER',
    `${place}: the constructor of ${metatype.name} needs something, but Nest does not know what and would inject nothing: ` +
      'decorate the class with @Injectable(), and have the compiler emit decorator metadata',
  );
}
