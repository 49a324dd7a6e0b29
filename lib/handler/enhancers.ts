import type { CanActivate, ExceptionFilter, NestInterceptor, PipeTransform, Type } from '@nestjs/common';
import type { ModulesContainer, NestContainer } from '@nestjs/core';
import { decoratedMethod, type HandlerInstance, type HandlerMethod } from './handler-method.js';
import type { HandlerParameter } from './handler-parameters.js';
import {
  BaseExceptionFilterContext,
  type ContextId,
  EXCEPTION_FILTERS_METADATA,
  GUARDS_METADATA,
  GuardsContextCreator,
  INTERCEPTORS_METADATA,
  InterceptorsContextCreator,
  PIPES_METADATA,
  PipesContextCreator,
} from './nest-internals.js';

/** Instances of enhancers, in the order in which Nest runs them. */
export interface Enhancers {
  readonly guards: readonly CanActivate[];
  readonly interceptors: readonly NestInterceptor[];
  readonly pipes: readonly PipeTransform[];
  readonly filters: readonly ExceptionFilter[];
}

/** What runs around one handler. */
export interface BoundEnhancers {
  readonly guards: CanActivate[];
  readonly interceptors: NestInterceptor[];
  /** With what each goes through. */
  readonly parameters: readonly PipedParameter[];
  /** In the order in which they are asked. */
  readonly filters: readonly BoundFilter[];
}

export interface PipedParameter extends HandlerParameter {
  readonly pipes: readonly PipeTransform[];
}

/** A filter, and the errors that it is for; none named: all. */
export interface BoundFilter {
  readonly func: ExceptionFilter['catch'];
  readonly exceptionMetatypes: readonly Type[];
}

/** The handler whose enhancers are looked up. */
interface Lookup {
  readonly handler: HandlerMethod;
  readonly parameters: readonly HandlerParameter[];
  readonly instance: HandlerInstance;
  /** Where scoped enhancers have their instances. None: where the handler's singleton has them. */
  readonly contextId?: ContextId;
}

/** The method that makes an enhancer one, by the metadata that binds it. */
const METHODS: Readonly<Record<string, string>> = {
  [GUARDS_METADATA]: 'canActivate',
  [INTERCEPTORS_METADATA]: 'intercept',
  [PIPES_METADATA]: 'transform',
  [EXCEPTION_FILTERS_METADATA]: 'catch',
};

/** A class or an instance, as a decorator was given it. */
interface Binding {
  readonly enhancer: unknown;
  readonly method: string;
}

/** Finds the enhancers that are bound to a handler, its parameters or its class. */
export class EnhancerFinder {
  readonly #guards: GuardsContextCreator;
  readonly #interceptors: InterceptorsContextCreator;
  readonly #pipes: PipesContextCreator;
  readonly #filters: FilterFinder;

  constructor(modules: ModulesContainer) {
    // All they ask of it. Given no configuration of the application, they look for nothing global.
    const container = { getModules: () => modules } as NestContainer;
    this.#guards = new GuardsContextCreator(container);
    this.#interceptors = new InterceptorsContextCreator(container);
    this.#pipes = new PipesContextCreator(container);
    this.#filters = new FilterFinder(container);
  }

  /** Whether any is bound to the handler or its class. */
  hasAny(handler: HandlerMethod): boolean {
    return boundTo(handler).length > 0;
  }

  /** The bound classes that Nest has no instance of: it would leave them out without a word. */
  missing(handler: HandlerMethod, parameters: readonly HandlerParameter[]): string[] {
    const ofParameters = parameters
      .flatMap(({ pipes }) => pipes)
      .map((enhancer) => ({ enhancer, method: 'transform' }));
    const missing = [...boundTo(handler), ...ofParameters].filter((binding) => !isAvailable(handler, binding));
    return missing.map(({ enhancer }) => (typeof enhancer === 'function' ? enhancer.name : String(enhancer)));
  }

  find({ handler, parameters, instance, contextId }: Lookup, globals: Enhancers): BoundEnhancers {
    const { host } = handler;
    const place = [instance, decoratedMethod(handler), host.host!.token, contextId, host.id] as const;
    const pipes = [...globals.pipes, ...this.#pipes.create(...place)];
    const withPipes = (parameter: HandlerParameter) => ({
      ...parameter,
      pipes: [
        ...pipes,
        ...this.#pipes.createConcreteContext<unknown[], PipeTransform[]>([...parameter.pipes], contextId, host.id),
      ],
    });
    return {
      guards: [...globals.guards, ...this.#guards.create(...place)],
      interceptors: [...globals.interceptors, ...this.#interceptors.create(...place)],
      parameters: parameters.map(withPipes),
      filters: [...this.#filters.of(globals.filters), ...this.#filters.find(...place)].reverse(),
    };
  }
}

class FilterFinder extends BaseExceptionFilterContext {
  of(filters: readonly ExceptionFilter[]): BoundFilter[] {
    return this.createConcreteContext<ExceptionFilter[], BoundFilter[]>([...filters]);
  }

  find(...[instance, method, moduleKey, ...where]: Parameters<GuardsContextCreator['create']>): BoundFilter[] {
    this.moduleContext = moduleKey;
    return this.createContext<unknown[], BoundFilter[]>(instance, method, EXCEPTION_FILTERS_METADATA, ...where);
  }
}

function boundTo(handler: HandlerMethod): Binding[] {
  const targets = [handler.prototype.constructor, decoratedMethod(handler)];
  return Object.entries(METHODS).flatMap(([key, method]) =>
    targets
      .flatMap((target) => (Reflect.getMetadata(key, target) as unknown[] | undefined) ?? [])
      .map((enhancer) => ({ enhancer, method })),
  );
}

function isAvailable({ host }: HandlerMethod, { enhancer, method }: Binding): boolean {
  if (typeof enhancer === 'function' && host.host?.injectables.has(enhancer)) return true;
  // An instance, or a class that is an enhancer by its static method.
  return typeof (enhancer as Readonly<Record<string, unknown>> | null | undefined)?.[method] === 'function';
}
