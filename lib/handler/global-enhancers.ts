import type { CanActivate, ExceptionFilter, NestInterceptor, PipeTransform } from '@nestjs/common';
import type { ApplicationConfig } from '@nestjs/core';
import type { Enhancers } from './enhancers.js';
import { resolveScoped } from './message-scope.js';
import type { ContextId, InstanceWrapper } from './nest-internals.js';

/** The enhancers of the whole application: `APP_GUARD` and the like, and what `useGlobalGuards()` and the like were given. */
export class GlobalEnhancers {
  constructor(private readonly config: ApplicationConfig) {}

  hasAny(): boolean {
    return (
      this.hasScoped() || Object.values(this.singletons()).some((enhancers: readonly unknown[]) => enhancers.length > 0)
    );
  }

  /** Whether there are some that each message has instances of its own of. */
  hasScoped(): boolean {
    return Object.values(this.#scoped()).some((wrappers) => wrappers.length > 0);
  }

  singletons(): Enhancers {
    return {
      guards: this.config.getGlobalGuards().filter(isGiven),
      interceptors: this.config.getGlobalInterceptors().filter(isGiven),
      pipes: this.config.getGlobalPipes().filter(isGiven),
      filters: this.config.getGlobalFilters().filter(isGiven),
    };
  }

  /** All of them, the scoped ones with the instances of a message. */
  async resolve(contextId: ContextId): Promise<Enhancers> {
    const all = this.singletons();
    const scoped = this.#scoped();
    const instances = <T>(wrappers: readonly InstanceWrapper[]): Promise<T[]> =>
      Promise.all(wrappers.map((wrapper) => resolveScoped<T>(wrapper, contextId)));
    const [guards, interceptors, pipes, filters] = await Promise.all([
      instances<CanActivate>(scoped.guards),
      instances<NestInterceptor>(scoped.interceptors),
      instances<PipeTransform>(scoped.pipes),
      instances<ExceptionFilter>(scoped.filters),
    ]);
    return {
      guards: [...all.guards, ...guards],
      interceptors: [...all.interceptors, ...interceptors],
      pipes: [...all.pipes, ...pipes],
      filters: [...all.filters, ...filters],
    };
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

/** A factory of a global enhancer may decide that there is none. */
function isGiven<T>(enhancer: T | null | undefined): enhancer is T {
  return enhancer != null;
}
