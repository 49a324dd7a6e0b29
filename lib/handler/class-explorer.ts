import type { DiscoveryService } from '@nestjs/core';
import { systemClock } from '../timing/clock.js';
import { inSlices } from '../timing/slices.js';
import { isScoped } from './message-scope.js';
import type { InstanceWrapper } from './nest-internals.js';

/** What has the methods of a class. */
export type Instance = Record<string | symbol, (...args: unknown[]) => unknown>;

/** A method of a class that Nest knows. A scoped provider has no instance yet, so this is the method of the class. */
export interface ClassMethod {
  /** Where Nest keeps the class and its instances. */
  readonly host: InstanceWrapper;
  readonly prototype: object;
  readonly name: string | symbol;
}

/** Class and method, for people. */
export function fullNameOf({ host, name }: ClassMethod): string {
  return `${String(host.name)}.${String(name)}`;
}

/** The method that decorators have decorated, or replaced; an instance may have something else in its place, such as a spy. */
export function decoratedMethod({ prototype, name }: ClassMethod): (...args: unknown[]) => unknown {
  return (prototype as Instance)[name]!;
}

/** Visits the classes of all providers and controllers. The event loop turns meanwhile. */
export async function exploreClasses(
  discovery: DiscoveryService,
  visit: (host: InstanceWrapper, prototype: object | undefined) => void,
): Promise<void> {
  const hosts = [...discovery.getProviders(), ...discovery.getControllers()];
  // An alias has the same instance as its target.
  const own = hosts.filter((host) => !host.isAlias);
  await inSlices(own, systemClock, (host) => visit(host, prototypeOf(host)));
}

/** Undefined if nothing is known of its class. A factory that makes an instance for each message has made none: its token may be the class. */
function prototypeOf(host: InstanceWrapper): object | undefined {
  const { metatype, token } = host;
  const instance: unknown = host.instance;
  if (typeof instance === 'object' && instance !== null) return Object.getPrototypeOf(instance) as object;
  const type = host.isFactory && isScoped(host) ? token : metatype;
  return typeof type === 'function' ? (type.prototype as object | undefined) : undefined;
}
