import type { DefinedBy } from '../options/queue-definition.js';
import { DeclaredMethods } from '../handler/declared-methods.js';
import type { HandlerDecorator } from '../handler/handler-types.js';
import type { DelayQueueEvent, DelayQueueEvents, EventName } from '../message/delay-queue-events.js';
import type { InstanceOptions } from '../options/queue-options.js';

// All copies of the package share this key, so a listener is found whichever copy decorated it.
const LISTENER = Symbol.for('nestjs-delay-queue:listener');

/**
 * Makes a provider an observer of the delay queue: its class implements methods of {@link DelayQueueObserver}. The provider must be a
 * singleton. Of several such providers, the first one found wraps the others; those of `forRoot({ observers })` wrap them all.
 * @param options - `instance`: the name of the instance to observe. To observe several instances, decorate the class several times
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
export function DelayQueueListener(options: InstanceOptions = {}): ClassDecorator {
  return (target) => {
    const own = (Reflect.getOwnMetadata(LISTENER, target) as InstanceOptions[] | undefined) ?? [];
    Reflect.defineMetadata(LISTENER, [options, ...own], target);
  };
}

/**
 * Returns the options of each decorator of a class. A subclass without decorators of its own gets those of the decorated class, because a
 * decorator above may have replaced the class with a subclass.
 */
export function listensTo(type: object): readonly InstanceOptions[] {
  return (Reflect.getMetadata(LISTENER, type) as InstanceOptions[] | undefined) ?? [];
}

/** The arguments of an `@OnDelayQueueEvent`, unchecked. */
export interface EventDeclaration {
  readonly event: EventName;
  /** A queue's name, a family's name, or the class of a typed queue; undefined: every queue. */
  readonly queue: unknown;
  readonly options: InstanceOptions;
}

export const declaredListeners = new DeclaredMethods<EventDeclaration>({
  decorator: '@OnDelayQueueEvent',
  code: 'INVALID_LISTENER',
  key: Symbol.for('nestjs-delay-queue:events'),
});

/**
 * Calls a method of a provider or a controller for each event of this name in this process. The method is not awaited, and its errors are
 * logged. The class must be a singleton.
 * @param event - the name of the event
 * @param queueOrOptions - a queue's name, a pattern such as `tenant-*`, or the class of a typed queue. Default: every queue
 * @param optionsOfQueue - `instance`: the name of the instance whose events the method gets. A typed queue's class names its own instance
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
  queueOrOptions: string | DefinedBy<unknown> | InstanceOptions = {},
  optionsOfQueue: InstanceOptions = {},
): HandlerDecorator<[DelayQueueEvent<Name>]> {
  const isAlone = isOptions(queueOrOptions);
  return declaredListeners.decorate({
    event,
    queue: isAlone ? undefined : queueOrOptions,
    options: isAlone ? queueOrOptions : optionsOfQueue,
  });
}

/** True for options. Anything else that is not a queue is refused when the listeners are found. */
function isOptions(given: unknown): given is InstanceOptions {
  return typeof given === 'object' && given !== null;
}
