import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { type ClassMethod, decoratedMethod, exploreClasses, fullNameOf } from './class-explorer.js';
import { definitionOf } from './definition/queue-definition.js';
import { declarationsOf, type HandlerDeclaration, placeOf } from './delayed-handler-decorator.js';
import { HandlerCalls } from './handler-calls.js';
import { HandlerRegistry } from './handler-registry.js';
import { InstanceNames } from './instance-names.js';
import type { InstanceWrapper } from './nest-internals.js';
import { readDeclaration } from './read-declaration.js';

/** Where the compiler and `@Inject()` leave what the parameters of a constructor are. */
const KNOWN_PARAMETERS = ['design:paramtypes', 'self:paramtypes'];

/** Finds the decorated methods of all providers and controllers that are for this instance, inherited ones too, before anything starts. */
@Injectable()
export class HandlerExplorer implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly registry: HandlerRegistry,
    private readonly calls: HandlerCalls,
    private readonly instances: InstanceNames,
  ) {}

  /**
   * @throws DelayQueueError `INVALID_HANDLER`, `INVALID_OPTION`, naming class and method
   */
  async onModuleInit(): Promise<void> {
    await exploreClasses(this.discovery, this.scanner, {
      onClass: (host) => this.#define(host),
      onMethod: (method) => {
        for (const declaration of declarationsOf(decoratedMethod(method))) this.#register(method, declaration);
      },
    });
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

  #register(method: ClassMethod, declaration: HandlerDeclaration): void {
    const place = placeOf(method);
    const { queue, definition, queueOptions, instance, ...target } = readDeclaration(declaration, place);
    if (!this.instances.isOwn(instance, { code: 'INVALID_HANDLER', place })) return;
    refuseUninjected(method);
    if (definition) this.registry.define(definition, (declaration.queue as { readonly name: string }).name);
    this.registry.add(queue, { name: fullNameOf(method), ...target, call: this.calls.of(method) }, queueOptions);
  }
}

/** Nest would silently call the constructor of such a class without arguments. */
function refuseUninjected(method: ClassMethod): void {
  const { host } = method;
  const { metatype } = host;
  // Nest does not construct what a factory or a value provides.
  if (typeof metatype !== 'function' || host.isNotMetatype || host.inject || metatype.length === 0) return;
  if (KNOWN_PARAMETERS.some((key) => Reflect.hasMetadata(key, metatype))) return;
  throw new DelayQueueError(
    'INVALID_HANDLER',
    `${placeOf(method)}: the constructor of ${metatype.name} needs something, but Nest does not know what and would inject nothing: ` +
      'decorate the class with @Injectable(), and have the compiler emit decorator metadata',
  );
}
