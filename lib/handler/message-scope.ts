import { ContextIdFactory, ModuleRef } from '@nestjs/core';
import type { HandlerMessage } from './delayed-message-handler.js';
import { type ContextId, type InstanceWrapper, REQUEST_CONTEXT_ID } from './nest-internals.js';

/** Whether Nest makes its instances when they are asked for, rather than one at start-up. */
export function isScoped(host: InstanceWrapper): boolean {
  return host.isTransient || !host.isDependencyTreeStatic();
}

/**
 * Opens the scope of a message, as Nest has one for each request: `REQUEST` injects the message, and
 * `ContextIdFactory.getByRequest(message)` leads to the same instances. Nest keeps them by the scope's id, weakly: they go with the
 * message.
 *
 * @param host - of the handler. A durable one outlives the message, so it gets what the strategy has for its `REQUEST`
 */
export function openScope(message: HandlerMessage, host: InstanceWrapper): ContextId {
  const contextId: ContextId & { readonly payload?: unknown } = ContextIdFactory.getByRequest(message);
  Object.defineProperty(message, REQUEST_CONTEXT_ID, { value: contextId });
  const request = host.isDependencyTreeDurable() ? contextId.payload : message;
  moduleRefOf(host).registerRequestByContextId(request, contextId);
  return contextId;
}

/** The instance that belongs to a scope. */
export function resolveScoped<T>(wrapper: InstanceWrapper, contextId: ContextId): Promise<T> {
  return moduleRefOf(wrapper).resolve<T>(wrapper.token as string, contextId);
}

/** Of its own module: others may have something else under the same token. */
function moduleRefOf({ host }: InstanceWrapper): ModuleRef {
  return host!.getProviderByKey<ModuleRef>(ModuleRef).instance;
}
