import type { DiscoveryService } from '@nestjs/core';
import { systemClock } from '../timing/clock.js';
import { inSlices } from '../timing/event-loop.js';
import { isScoped } from './message-scope.js';
import type { InstanceWrapper } from './nest-internals.js';

export type Instance = Record<string | symbol, (...args: unknown[]) => unknown>;

/** A method of a class that Nest knows. Belongs to the class rather than to an instance, because a scoped provider has none yet. */
export interface ClassMethod {
  /** Nest's record of the class and its instances. */
  readonly host: InstanceWrapper;
  readonly prototype: object;
  readonly name: string | symbol;
}

export function fullNameOf({ host, name }: ClassMethod): string {
  return `${String(host.name)}.${String(name)}`;
}

/** Returns the method as decorators have left it. An instance may have another in its place, such as a spy. */
export function decoratedMethod({ prototype, name }: ClassMethod): (...args: unknown[]) => unknown {
  return (prototype as Instance)[name]!;
}

/** Visits the classes of all providers and controllers, yielding to the event loop in between. */
export async function exploreClasses(
  discovery: DiscoveryService,
  visit: (host: InstanceWrapper, prototype: object | undefined) => void,
): Promise<void> {
  const hosts = [...discovery.getProviders(), ...discovery.getControllers()];
  // An alias has the same instance as its target.
  const own = hosts.filter((host) => !host.isAlias);
  await inSlices(own, systemClock, (host) => visit(host, prototypeOf(host)));
}

/** Returns undefined if the class is unknown. A scoped factory has made no instance yet, but its token may be the class. */
function prototypeOf(host: InstanceWrapper): object | undefined {
  const { metatype, token } = host;
  const instance: unknown = host.instance;
  if (typeof instance === 'object' && instance !== null) return Object.getPrototypeOf(instance) as object;
  const type = host.isFactory && isScoped(host) ? token : metatype;
  return typeof type === 'function' ? (type.prototype as object | undefined) : undefined;
}
