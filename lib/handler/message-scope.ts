import { ContextIdFactory, ModuleRef } from '@nestjs/core';
import type { HandlerMessage } from './delayed-message-handler.js';
import { type ContextId, type InstanceWrapper, REQUEST_CONTEXT_ID } from './nest-internals.js';

/** True if Nest makes instances on request rather than a single one at start-up. */
export function isScoped(host: InstanceWrapper): boolean {
  return host.isTransient || !host.isDependencyTreeStatic();
}

/**
 * Opens the scope of a message, as Nest does for a request: `REQUEST` injects the message, and `ContextIdFactory.getByRequest(message)`
 * leads to the same instances. Nest holds the instances weakly by the scope's id, so they are collected with the message.
 * @param host - the handler's host. A durable one outlives the message, so `REQUEST` injects what its strategy provides
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
