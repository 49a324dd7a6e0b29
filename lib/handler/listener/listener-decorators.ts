import type { DefinedBy } from '../definition/queue-definition.js';
import { methodOf } from '../decorated-method.js';
import type { HandlerDecorator } from '../handler-types.js';
import type { DelayQueueEvent, DelayQueueEvents, EventName } from '../../events/delay-queue-events.js';

// All copies of the package share the keys, so a listener is found whichever copy decorated it.
const LISTENER = Symbol.for('nestjs-delay-queue:listener');
const EVENTS = Symbol.for('nestjs-delay-queue:events');

/**
 * Makes a provider an observer of the delay queue: its class implements methods of {@link DelayQueueObserver}. It must be a
 * singleton. Of several, the first that is found is the outermost; those of `forRoot({ observers })` wrap them all.
 *
 * @example
 * ```ts
 * @Injectable()
 * @DelayQueueListener()
 * class Audit implements DelayQueueObserver {
 *   event(event: DelayQueueEvent) {
 *     if (event.name === 'dead') console.log(`${event.queue}: ${event.id} is dead (${event.by})`);
 *   }
 * }
 * ```
 */
export function DelayQueueListener(): ClassDecorator {
  return (target) => Reflect.defineMetadata(LISTENER, true, target);
}

/** Of the class itself: one that extends it is decorated on its own. */
export function isListener(type: object): boolean {
  return Reflect.hasOwnMetadata(LISTENER, type);
}

/** What an `@OnDelayQueueEvent` was given, unchecked. */
export interface EventDeclaration {
  readonly event: EventName;
  /** A name, a family of names, or the class of a typed queue; undefined: every queue. */
  readonly queue: unknown;
}

/**
 * Calls a method of a provider or a controller for each event of a name, with the {@link DelayQueueEvent}. The method tells of what
 * happened in this process; it is not waited for, and what it throws is logged. The class must be a singleton.
 *
 * @param event - its name
 * @param queue - the name of a queue, the beginning of names and a `*`, or the class of a typed queue. Default: every queue
 *
 * @example
 * ```ts
 * @Injectable()
 * class Alarms {
 *   @OnDelayQueueEvent('dead', 'orders')
 *   async tell({ id, failure }: DelayQueueEvent<'dead'>) {
 *     await chat.post(`Order message ${id} has failed for good: ${failure.message}`);
 *   }
 * }
 * ```
 */
export function OnDelayQueueEvent<Name extends keyof DelayQueueEvents>(
  event: Name,
  queue?: string | DefinedBy<unknown>,
): HandlerDecorator<[DelayQueueEvent<Name>]> {
  const declaration: EventDeclaration = { event, queue };
  return (target, name, descriptor) => {
    const method = methodOf({ decorator: '@OnDelayQueueEvent', code: 'INVALID_LISTENER', target, name, descriptor });
    Reflect.defineMetadata(EVENTS, [...eventsOf(method), declaration], method);
  };
}

/** The declarations on a method; none if it is not decorated. */
export function eventsOf(method: object): readonly EventDeclaration[] {
  return (Reflect.getMetadata(EVENTS, method) as EventDeclaration[] | undefined) ?? [];
}
