import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { systemClock } from '../timing/clock.js';
import { inSlices } from '../timing/slices.js';
import { type ClassMethod, exploreClasses, fullNameOf } from './class-explorer.js';
import { assertInjected } from './constructor-check.js';
import type { DeclaredMethod } from './declared-methods.js';
import { definitionOf } from './definition/queue-definition.js';
import { declaredHandlers, type HandlerDeclaration, placeOf } from './delayed-handler-decorator.js';
import { HandlerCalls } from './handler-calls.js';
import { HandlerRegistry } from './handler-registry.js';
import { InstanceNames } from './instance-names.js';
import { assertCallable } from './method-check.js';
import type { InstanceWrapper } from './nest-internals.js';
import { readDeclaration } from './read-declaration.js';

/** Finds the decorated methods of all providers and controllers that are for this instance, inherited ones too, before anything starts. */
@Injectable()
export class HandlerExplorer implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly registry: HandlerRegistry,
    private readonly calls: HandlerCalls,
    private readonly instances: InstanceNames,
  ) {}

  /**
   * @throws DelayQueueError `INVALID_HANDLER`, `INVALID_OPTION`, naming class and method
   */
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
