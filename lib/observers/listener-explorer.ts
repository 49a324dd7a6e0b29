import { Injectable, type OnModuleInit, type Type } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { definitionOf, instanceOfQueue } from '../options/queue-definition.js';
import { isEventName } from '../message/delay-queue-events.js';
import { isObserver, OBSERVER_METHODS } from '../message/delay-queue-observer.js';
import { Observers } from './observers.js';
import { type ClassMethod, exploreClasses, fullNameOf, type Instance, isScoped } from '../handler/class-explorer.js';
import { assertCallable, assertInjected } from '../handler/declaration-checks.js';
import type { DeclaredMethod } from '../handler/declared-methods.js';
import { InstanceNames } from '../handler/instance-names.js';
import { LateClasses } from '../runtime/late-classes.js';
import type { InstanceWrapper } from '../handler/nest-internals.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { belongsTo, QUEUE_FAMILY, QUEUE_NAME, QUEUE_OR_FAMILY_RULE } from '../message/queue-name.js';
import { showGiven } from '../message/show-given.js';
import type { InstanceOptions } from '../options/queue-options.js';
import { readInstance } from '../options/resolve-options.js';
import { declaredListeners, type EventDeclaration, listensTo } from './listener-decorators.js';

/** Finds this instance's listeners in all providers and controllers before anything starts. */
@Injectable()
export class ListenerExplorer implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly observers: Observers,
    private readonly instances: InstanceNames,
    lateClasses: LateClasses,
  ) {
    lateClasses.alsoFind(listenersIn);
  }

  async onModuleInit(): Promise<void> {
    await exploreClasses(this.discovery, (host, prototype) => {
      if (!prototype) return;
      this.#observe(host, listensTo(prototype.constructor));
      for (const [name, declared] of declaredListeners.of(prototype)) this.#listen({ host, prototype, name }, declared);
    });
  }

  #observe(host: InstanceWrapper, declarations: readonly InstanceOptions[]): void {
    const name = String(host.name);
    const place = `@DelayQueueListener() on ${name}`;
    // Checks all declarations, so an unknown instance is refused even if another declaration names a known one.
    if (declarations.filter((options) => this.#isOwn(readInstance(options, place), place)).length === 0) return;
    const observer = instanceOf(host, place);
    if (!isObserver(observer)) {
      const problem = `it has none of the methods ${OBSERVER_METHODS.join(', ')}, or something else in their place, such as a generator (*)`;
      throw new DelayQueueError('INVALID_LISTENER', `${place}: ${problem}`);
    }
    this.observers.add(observer, name);
  }

  #listen(method: ClassMethod, declared: DeclaredMethod<EventDeclaration>): void {
    const fullName = fullNameOf(method);
    const place = `@OnDelayQueueEvent on ${fullName}`;
    for (const { event, queue, options } of declared.declarations) {
      if (!isEventName(event)) {
        throw new DelayQueueError('INVALID_LISTENER', `${place}: there is no event ${showGiven(event)}`);
      }
      const isWanted = readQueue(queue, place);
      const given = readInstance(options, place);
      const definition = definitionOf(queue);
      if (!this.#isOwn(definition ? instanceOfQueue(definition, given, place) : given, place)) continue;
      assertCallable(method, declared, declaredListeners.kind);
      const host = instanceOf(method.host, place) as Instance;
      this.observers.listen(event, { place: fullName, isWanted, call: (event) => host[method.name]!(event) });
    }
  }

  #isOwn(instance: string | undefined, place: string): boolean {
    return this.instances.isOwn(instance, { code: 'INVALID_LISTENER', place });
  }
}

function instanceOf(host: InstanceWrapper, place: string): object {
  if (!isScoped(host)) {
    assertInjected(host, place, 'INVALID_LISTENER');
    return host.instance as object;
  }
  const problem = 'it would need an instance for each event; use a singleton, with ModuleRef for what is scoped';
  throw new DelayQueueError('INVALID_LISTENER', `${place}: its class is request-scoped or transient: ${problem}`);
}

/** Creates a filter of events by queue. Events without a queue pass only if the listener named no queue. */
function readQueue(given: unknown, place: string): (queue: string | undefined) => boolean {
  if (given === undefined) return () => true;
  const name: unknown = definitionOf(given)?.queue ?? given;
  if (typeof name === 'string' && QUEUE_NAME.test(name)) return (queue) => queue === name;
  if (typeof name === 'string' && QUEUE_FAMILY.test(name))
    return (queue) => queue !== undefined && belongsTo(name, queue);
  throw new DelayQueueError('INVALID_LISTENER', `${place}: ${QUEUE_OR_FAMILY_RULE}, not ${showGiven(given)}`);
}

function listenersIn(type: Type): string[] {
  const methods = [...declaredListeners.of(type.prototype as object)];
  const observer = listensTo(type).length > 0 ? [type.name] : [];
  return [...observer, ...methods.map(([name]) => `${type.name}.${String(name)}`)];
}
