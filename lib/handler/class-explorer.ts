import { ContextIdFactory, type DiscoveryService, ModuleRef } from '@nestjs/core';
import { systemClock } from '../timing/clock.js';
import { inSlices } from '../timing/event-loop.js';
import { type ContextId, type InstanceWrapper, REQUEST_CONTEXT_ID } from './nest-internals.js';
import type { HandlerMessage } from './handler-registry.js';

export type Instance = Record<string | symbol, (...args: unknown[]) => unknown>;

/** A method of a class that Nest knows. Belongs to the class rather than to an instance, because a scoped provider has no instance yet. */
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
  // Skips aliases: an alias has the same instance as its target, which is visited itself.
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

/** True if Nest makes an instance for each request or each injection, rather than a single one at startup. */
export function isScoped(host: InstanceWrapper): boolean {
  return host.isTransient || !host.isDependencyTreeStatic();
}

/**
 * Opens the scope of a message, as Nest does for a request: `REQUEST` injects the message, and `ContextIdFactory.getByRequest(message)`
 * leads to the same instances. Nest holds the instances weakly by the scope's id, so they are garbage-collected with the message.
 * @param host - the handler's host. If it is durable, it outlives the message, so `REQUEST` injects what the durable strategy provides
 */
export function openScope(message: HandlerMessage, host: InstanceWrapper): ContextId {
  const contextId: ContextId & { readonly payload?: unknown } = ContextIdFactory.getByRequest(message);
  Object.defineProperty(message, REQUEST_CONTEXT_ID, { value: contextId });
  const request = host.isDependencyTreeDurable() ? contextId.payload : message;
  moduleRefOf(host).registerRequestByContextId(request, contextId);
  return contextId;
}

export function resolveScoped<T>(wrapper: InstanceWrapper, contextId: ContextId): Promise<T> {
  return moduleRefOf(wrapper).resolve<T>(wrapper.token as string, contextId);
}

/** Returns the `ModuleRef` of the host's own module, because other modules may have another provider under the same token. */
function moduleRefOf({ host }: InstanceWrapper): ModuleRef {
  return host!.getProviderByKey<ModuleRef>(ModuleRef).instance;
}
