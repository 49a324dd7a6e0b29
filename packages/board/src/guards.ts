import type { ArgumentsHost, CanActivate, ExecutionContext, Type } from '@nestjs/common';
import { ContextIdFactory, type ModuleRef } from '@nestjs/core';
import { isObservable, lastValueFrom } from 'rxjs';
import type { Exchange } from './exchange.js';
import { invalidOption } from './options.js';
import { Problem } from './problem.js';

/**
 * What guards find in their context: `getClass()` is this class, and `getHandler()` one of its methods.
 * @example
 * ```ts
 * const isChange = context.getHandler() === DelayQueueBoard.prototype.change;
 * ```
 */
export class DelayQueueBoard {
  /** The page and its files. */
  page(): void {}
  /** Reads of the API, except events. */
  read(): void {}
  /** Changes by the API. */
  change(): void {}
  /** Streams of events. They end every minute, so that a client has to pass the guards again. */
  events(): void {}
}

export type RequestKind = Exclude<keyof DelayQueueBoard, symbol>;

type FindGuard = (request: object) => CanActivate | Promise<CanActivate>;

/** The guards of a board. */
export class Guards {
  private constructor(private readonly guards: readonly FindGuard[]) {}

  /** Finds or creates the guards. @throws DelayQueueError `INVALID_OPTION` if Nest cannot */
  static async resolve(modules: ModuleRef, guards: readonly (Type<CanActivate> | CanActivate)[]): Promise<Guards> {
    return new Guards(await Promise.all(guards.map((guard) => resolveGuard(modules, guard))));
  }

  get isEmpty(): boolean {
    return this.guards.length === 0;
  }

  /** Lets a request pass, or throws. A guard that has sent an answer of its own, such as a redirect, ends the request. */
  async check(exchange: Exchange, kind: RequestKind): Promise<void> {
    const context = new BoardContext(exchange, kind);
    for (const find of this.guards) {
      const guard = await find(exchange.request);
      const result = await guard.canActivate(context);
      const isAllowed = isObservable(result) ? await lastValueFrom(result, { defaultValue: false }) : result;
      if (isAllowed !== true) throw new Problem(403, 'FORBIDDEN', 'A guard of the board has refused the request.');
    }
  }
}

async function resolveGuard(modules: ModuleRef, guard: Type<CanActivate> | CanActivate): Promise<FindGuard> {
  if (typeof guard !== 'function') return () => guard;
  if (!isProvider(modules, guard)) {
    const created = await create(modules, guard);
    return () => created;
  }
  try {
    const found = modules.get(guard, { strict: false });
    return () => found;
  } catch {
    // It is request-scoped, or depends on something that is.
    return (request) => {
      const contextId = ContextIdFactory.getByRequest(request);
      modules.registerRequestByContextId(request, contextId);
      return modules.resolve(guard, contextId, { strict: false });
    };
  }
}

function isProvider(modules: ModuleRef, guard: Type): boolean {
  try {
    modules.introspect(guard);
    return true;
  } catch {
    return false;
  }
}

async function create(modules: ModuleRef, guard: Type<CanActivate>): Promise<CanActivate> {
  try {
    return await modules.create(guard);
  } catch (error) {
    const advice = 'make it a provider of one of the application’s modules';
    const reason = error instanceof Error ? error.message : String(error);
    throw invalidOption('forRoot()', `guards: Nest cannot create ${guard.name}: ${advice} (${reason})`, error);
  }
}

class BoardContext implements ExecutionContext {
  readonly #args: readonly [object, object, () => void];

  constructor(
    { request, response }: Exchange,
    private readonly kind: RequestKind,
  ) {
    this.#args = [request, response, () => {}];
  }

  getClass<T>(): Type<T> {
    return DelayQueueBoard as unknown as Type<T>;
  }

  getHandler(): () => void {
    // eslint-disable-next-line @typescript-eslint/unbound-method -- it only names the kind of request
    return DelayQueueBoard.prototype[this.kind];
  }

  getArgs<T extends unknown[]>(): T {
    return [...this.#args] as unknown as T;
  }

  getArgByIndex<T>(index: number): T {
    return this.#args[index] as T;
  }

  switchToHttp(): ReturnType<ArgumentsHost['switchToHttp']> {
    const [request, response, next] = this.#args;
    return {
      getRequest: <T>() => request as T,
      getResponse: <T>() => response as T,
      getNext: <T>() => next as T,
    };
  }

  switchToRpc(): never {
    throw new Error('The board is served by HTTP.');
  }

  switchToWs(): never {
    throw new Error('The board is served by HTTP.');
  }

  getType<T extends string>(): T {
    return 'http' as T;
  }
}
