import type { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { type ClassMethod, type Instance, isScoped, openScope, resolveScoped } from './class-explorer.js';
import { placeOf } from './delayed-handler-decorator.js';
import type { HandlerCall } from './handler-registry.js';
import { completionOf } from '../message/handler-results.js';
import { EnhancedCall } from './enhanced-call.js';
import { EnhancerFinder, GlobalEnhancers } from './enhancers.js';
import { hasDecoratedParameters, type HandlerParameter, parametersOf } from './handler-parameters.js';

/** Decides at startup how each handler is called, so a message costs no more than its handler needs. */
export class HandlerCalls {
  readonly #finder: EnhancerFinder;
  readonly #globals: GlobalEnhancers;

  /** @param config - its global enhancers also run around handlers */
  constructor(modules: ModulesContainer, config: ApplicationConfig) {
    this.#finder = new EnhancerFinder(modules);
    this.#globals = new GlobalEnhancers(config);
  }

  of(handler: ClassMethod): HandlerCall {
    refuseScopedController(handler);
    const isEnhanced = this.#finder.hasAny(handler) || hasDecoratedParameters(handler) || this.#globals.hasAny();
    const isPerMessage = isScoped(handler.host) || this.#globals.hasScoped();
    if (!isEnhanced) return isPerMessage ? scopedCall(handler) : directCall(handler);
    const parameters = parametersOf(handler);
    this.#refuseMissing(handler, parameters);
    return isPerMessage ? this.#enhancedScopedCall(handler, parameters) : this.#enhancedCall(handler, parameters);
  }

  #enhancedCall(handler: ClassMethod, parameters: readonly HandlerParameter[]): HandlerCall {
    const instance = handler.host.instance as Instance;
    const enhancers = this.#finder.find({ handler, parameters, instance }, this.#globals.singletons());
    const call = new EnhancedCall(handler, instance, enhancers);
    return (payload, message) => call.run(payload, message);
  }

  #enhancedScopedCall(handler: ClassMethod, parameters: readonly HandlerParameter[]): HandlerCall {
    const { host } = handler;
    return async (payload, message) => {
      const messageId = openScope(message, host);
      // A singleton's own enhancers are singletons, or were made for it at startup.
      const contextId = isScoped(host) ? messageId : undefined;
      const [instance, globals] = await Promise.all([
        contextId ? resolveScoped<Instance>(host, contextId) : (host.instance as Instance),
        this.#globals.resolve(messageId),
      ]);
      const enhancers = this.#finder.find({ handler, parameters, instance, contextId }, globals);
      return new EnhancedCall(handler, instance, enhancers).run(payload, message);
    };
  }

  #refuseMissing(handler: ClassMethod, parameters: readonly HandlerParameter[]): void {
    const missing = this.#finder.missing(handler, parameters);
    if (missing.length === 0) return;
    throw new DelayQueueError(
      'INVALID_HANDLER',
      `${placeOf(handler)}: Nest has no instance of ${missing.join(', ')} and would skip it. Nest makes one if the handler's ` +
        'class is itself among the providers; if a factory makes that class, give @UseGuards() and the like an instance',
    );
  }
}

function directCall({ host, name }: ClassMethod): HandlerCall {
  // Looked up at each call, because a spy or proxy may have replaced the instance.
  const instance = host.instance as Instance;
  return (payload, message) => instance[name]!(payload, message);
}

function scopedCall({ host, name }: ClassMethod): HandlerCall {
  return async (payload, message) => {
    const instance = await resolveScoped<Instance>(host, openScope(message, host));
    return completionOf(instance[name]!(payload, message));
  };
}

/** Refuses a controller that Nest would make anew for each message, with the message in place of the request that its routes expect. */
function refuseScopedController(handler: ClassMethod): void {
  const { host } = handler;
  const isController = host.host?.controllers.get(host.token) === host;
  if (!isController || !isScoped(host)) return;
  throw new DelayQueueError(
    'INVALID_HANDLER',
    `${placeOf(handler)}: the controller is request-scoped or transient, by itself, or because of something it injects, or of a ` +
      'guard, pipe, interceptor or filter on it or on the whole application. Move the handler into a provider, which may be request-scoped',
  );
}
