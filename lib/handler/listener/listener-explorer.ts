import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { definitionOf } from '../definition/queue-definition.js';
import { type DelayQueueEvent, isEventName } from '../../events/delay-queue-events.js';
import { isObserver, OBSERVER_METHODS } from '../../events/delay-queue-observer.js';
import { Observers } from '../../events/observers.js';
import { exploreClasses, type HostedMethod } from '../explore-classes.js';
import { decoratedMethod, isScoped } from '../handler-method.js';
import type { InstanceWrapper } from '../nest-internals.js';
import { DelayQueueError } from '../../message/delay-queue-errors.js';
import { belongsTo, QUEUE_FAMILY, QUEUE_OR_FAMILY_RULE } from '../../message/queue-family.js';
import { QUEUE_NAME } from '../../message/queue-name.js';
import { showGiven } from '../../message/show-given.js';
import { isListener } from './delay-queue-listener-decorator.js';
import { type EventDeclaration, eventsOf } from './on-delay-queue-event-decorator.js';

type Methods = Record<string, (event: DelayQueueEvent) => unknown>;

/** Finds the listeners among all providers and controllers before anything starts. */
@Injectable()
export class ListenerExplorer implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly observers: Observers,
  ) {}

  /**
   * @throws DelayQueueError `INVALID_LISTENER`, naming the class and the method
   */
  async onModuleInit(): Promise<void> {
    await exploreClasses(this.discovery, this.scanner, {
      onClass: (host, prototype) => {
        if (prototype && isListener(prototype.constructor)) this.#observe(host, String(host.name));
      },
      onMethod: (method) => this.#explore(method),
    });
  }

  #explore(method: HostedMethod): void {
    const { host, name } = method;
    for (const declaration of eventsOf(decoratedMethod(method))) {
      this.#listen(host, `${String(host.name)}.${name}`, declaration);
    }
  }

  #observe(host: InstanceWrapper, name: string): void {
    const place = `@DelayQueueListener() on ${name}`;
    const observer = instanceOf(host, place);
    if (!isObserver(observer)) {
      const problem = `it has none of the methods ${OBSERVER_METHODS.join(', ')}, or something else in their place`;
      throw new DelayQueueError('INVALID_LISTENER', `${place}: ${problem}`);
    }
    this.observers.add(observer, name);
  }

  #listen(host: InstanceWrapper, name: string, { event, queue }: EventDeclaration): void {
    const place = `@OnDelayQueueEvent on ${name}`;
    if (!isEventName(event)) {
      throw new DelayQueueError('INVALID_LISTENER', `${place}: there is no event ${showGiven(event)}`);
    }
    const instance = instanceOf(host, place) as Methods;
    const method = name.slice(name.lastIndexOf('.') + 1);
    this.observers.listen(event, {
      place: name,
      isWanted: readQueue(queue, place),
      call: (told) => instance[method]!(told),
    });
  }
}

function instanceOf(host: InstanceWrapper, place: string): object {
  if (!isScoped(host)) return host.instance as object;
  const problem = 'it would need an instance for each event; use a singleton, with ModuleRef for what is scoped';
  throw new DelayQueueError('INVALID_LISTENER', `${place}: its class is request-scoped or transient: ${problem}`);
}

/** Whether events of a queue are wanted. Those of no queue are, if no queue was named. */
function readQueue(given: unknown, place: string): (queue: string | undefined) => boolean {
  if (given === undefined) return () => true;
  const name: unknown = definitionOf(given)?.queue ?? given;
  if (typeof name === 'string' && QUEUE_NAME.test(name)) return (queue) => queue === name;
  if (typeof name === 'string' && QUEUE_FAMILY.test(name))
    return (queue) => queue !== undefined && belongsTo(name, queue);
  throw new DelayQueueError('INVALID_LISTENER', `${place}: ${QUEUE_OR_FAMILY_RULE}, not ${showGiven(given)}`);
}
