import type { CanActivate, ExceptionFilter, NestInterceptor, PipeTransform, Type } from '@nestjs/common';
import type { ApplicationConfig, ModulesContainer, NestContainer } from '@nestjs/core';
import { type ClassMethod, decoratedMethod, type Instance, resolveScoped } from './class-explorer.js';
import type { HandlerParameter } from './handler-parameters.js';
import {
  BaseExceptionFilterContext,
  type ContextId,
  EXCEPTION_FILTERS_METADATA,
  GUARDS_METADATA,
  GuardsContextCreator,
  INTERCEPTORS_METADATA,
  type InstanceWrapper,
  InterceptorsContextCreator,
  PIPES_METADATA,
  PipesContextCreator,
} from './nest-internals.js';

/** Instances of enhancers, in the order in which Nest runs them. */
interface Enhancers {
  readonly guards: readonly CanActivate[];
  readonly interceptors: readonly NestInterceptor[];
  readonly pipes: readonly PipeTransform[];
  readonly filters: readonly ExceptionFilter[];
}

/** The enhancers of the whole application, from `APP_GUARD` and `useGlobalGuards()`, and likewise for the other kinds. */
export class GlobalEnhancers {
  constructor(private readonly config: ApplicationConfig) {}

  hasAny(): boolean {
    return this.hasScoped() || Object.values(this.singletons()).some(({ length }) => length > 0);
  }

  /** True if any enhancer has an instance of its own for each message. */
  hasScoped(): boolean {
    return Object.values(this.#scoped()).some(({ length }) => length > 0);
  }

  singletons(): Enhancers {
    return {
      guards: this.config.getGlobalGuards().filter(isGiven),
      interceptors: this.config.getGlobalInterceptors().filter(isGiven),
      pipes: this.config.getGlobalPipes().filter(isGiven),
      filters: this.config.getGlobalFilters().filter(isGiven),
    };
  }

  /** All enhancers, with scoped ones resolved for this message. */
  async resolve(contextId: ContextId): Promise<Enhancers> {
    const all = this.singletons();
    const scoped = this.#scoped();
    const withScoped = async <T>(instances: readonly T[], wrappers: readonly InstanceWrapper[]): Promise<T[]> => [
      ...instances,
      ...(await Promise.all(wrappers.map((wrapper) => resolveScoped<T>(wrapper, contextId)))),
    ];
    const [guards, interceptors, pipes, filters] = await Promise.all([
      withScoped(all.guards, scoped.guards),
      withScoped(all.interceptors, scoped.interceptors),
      withScoped(all.pipes, scoped.pipes),
      withScoped(all.filters, scoped.filters),
    ]);
    return { guards, interceptors, pipes, filters };
  }

  #scoped(): Readonly<Record<keyof Enhancers, readonly InstanceWrapper[]>> {
    return {
      guards: this.config.getGlobalRequestGuards(),
      interceptors: this.config.getGlobalRequestInterceptors(),
      pipes: this.config.getGlobalRequestPipes(),
      filters: this.config.getGlobalRequestFilters(),
    };
  }
}

/** The factory of a global enhancer may return nothing. */
function isGiven<T>(enhancer: T | null | undefined): enhancer is T {
  return enhancer != null;
}

export interface BoundEnhancers {
  readonly guards: CanActivate[];
  readonly interceptors: NestInterceptor[];
  readonly parameters: readonly PipedParameter[];
  /** In the order in which Nest asks the filters. */
  readonly filters: readonly BoundFilter[];
}

export interface PipedParameter extends HandlerParameter {
  readonly pipes: readonly PipeTransform[];
}

/** A filter and the errors that it handles; an empty list means all errors. */
interface BoundFilter {
  readonly func: ExceptionFilter['catch'];
  readonly exceptionMetatypes: readonly Type[];
}

interface Lookup {
  readonly handler: ClassMethod;
  readonly parameters: readonly HandlerParameter[];
  readonly instance: Instance;
  /** The scope of enhancers that are not singletons; undefined if they were made for the handler's singleton. */
  readonly contextId?: ContextId;
}

/** The method of each kind of enhancer, by metadata key. */
const METHODS: Readonly<Record<string, string>> = {
  [GUARDS_METADATA]: 'canActivate',
  [INTERCEPTORS_METADATA]: 'intercept',
  [PIPES_METADATA]: 'transform',
  [EXCEPTION_FILTERS_METADATA]: 'catch',
};

/** A class or an instance given to a decorator. */
interface Binding {
  readonly enhancer: unknown;
  readonly method: string;
}

/** Finds the enhancers bound to a handler, its parameters or its class. */
export class EnhancerFinder {
  readonly #guards: GuardsContextCreator;
  readonly #interceptors: InterceptorsContextCreator;
  readonly #pipes: PipesContextCreator;
  readonly #filters: FilterFinder;

  constructor(modules: ModulesContainer) {
    // Nest's context creators use nothing else of the container. Without the application's configuration, they add no global enhancers.
    const container = { getModules: () => modules } as NestContainer;
    this.#guards = new GuardsContextCreator(container);
    this.#interceptors = new InterceptorsContextCreator(container);
    this.#pipes = new PipesContextCreator(container);
    this.#filters = new FilterFinder(container);
  }

  hasAny(handler: ClassMethod): boolean {
    return boundTo(handler).length > 0;
  }

  /** Names the bound classes that have no instance in Nest, which would silently skip them. */
  missing(handler: ClassMethod, parameters: readonly HandlerParameter[]): string[] {
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

function boundTo(handler: ClassMethod): Binding[] {
  const targets = [handler.prototype.constructor, decoratedMethod(handler)];
  return Object.entries(METHODS).flatMap(([key, method]) =>
    targets
      .flatMap((target) => (Reflect.getMetadata(key, target) as unknown[] | undefined) ?? [])
      .map((enhancer) => ({ enhancer, method })),
  );
}

function isAvailable({ host }: ClassMethod, { enhancer, method }: Binding): boolean {
  if (typeof enhancer === 'function' && host.host?.injectables.has(enhancer)) return true;
  // An instance with the method, such as `canActivate`, or a class with a static method of that name.
  return typeof (enhancer as Readonly<Record<string, unknown>> | null | undefined)?.[method] === 'function';
}
