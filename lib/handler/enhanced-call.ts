import { AsyncResource } from 'node:async_hooks';
import { ForbiddenException } from '@nestjs/common';
import { type ClassMethod, decoratedMethod, type Instance } from './class-explorer.js';
import { completionOf, isDecision } from '../message/handler-results.js';
import type { HandlerMessage } from './handler-registry.js';
import type { BoundEnhancers, PipedParameter } from './enhancers.js';
import { ExecutionContextHost, FORBIDDEN_MESSAGE, InterceptorsConsumer } from './nest-internals.js';

/** The context type that guards, interceptors and filters see. */
const CONTEXT_TYPE = 'delay-queue';

const interceptorsConsumer = new InterceptorsConsumer();

/** Calls a handler as Nest calls a route: guards, interceptors, pipes, the method, then filters for what any of them throws. */
export class EnhancedCall {
  readonly #decorated: ReturnType<typeof decoratedMethod>;
  readonly #parameters: readonly PipedParameter[];

  constructor(
    private readonly handler: ClassMethod,
    private readonly instance: Instance,
    private readonly enhancers: BoundEnhancers,
  ) {
    this.#decorated = decoratedMethod(handler);
    const isPlainPayload = ({ index, pipes, metadata }: PipedParameter) =>
      index === 0 && pipes.length === 0 && metadata.type === 'body' && metadata.data === undefined;
    this.#parameters = enhancers.parameters.filter((parameter) => !isPlainPayload(parameter));
  }

  async run(payload: unknown, message: HandlerMessage): Promise<unknown> {
    const args = [payload, message];
    const context = new AsyncContext();
    try {
      await this.#admit(args, context);
      const result = await context.run(() => this.#intercept(args));
      return await context.run(() => completionOf(result));
    } catch (error) {
      // A thrown decision counts as a returned one. No filter sees it, because a filter for all errors would undo it.
      if (isDecision(error)) throw error;
      return context.run(() => this.#filter(error, args));
    }
  }

  async #admit(args: unknown[], context: AsyncContext): Promise<void> {
    const host = this.#hostOf(args);
    for (const guard of this.enhancers.guards) {
      const answer = await context.run(() => guard.canActivate(host));
      if (!(await completionOf(answer))) throw new ForbiddenException(FORBIDDEN_MESSAGE);
    }
  }

  #intercept(args: unknown[]): Promise<unknown> {
    const { interceptors } = this.enhancers;
    const next = () => this.#call(args);
    if (interceptors.length === 0) return next();
    return interceptorsConsumer.intercept(interceptors, args, this.instance, this.#decorated, next, CONTEXT_TYPE);
  }

  async #call(args: unknown[]): Promise<unknown> {
    const given = this.#parameters.length > 0 ? await this.#fill(args) : args;
    // Looked up at each call, because a spy or proxy may have replaced the method.
    return this.instance[this.handler.name]!(...given);
  }

  async #fill(args: unknown[]): Promise<unknown[]> {
    const host = this.#hostOf(args);
    const filled = [...args];
    await Promise.all(
      this.#parameters.map(async ({ index, read, pipes, metadata }) => {
        let value = await read(host);
        for (const pipe of pipes) value = await pipe.transform(value, metadata);
        filled[index] = value;
      }),
    );
    return filled;
  }

  /** Rethrows the error if no filter matches, because Nest's own handler would also log it. */
  async #filter(error: unknown, args: unknown[]): Promise<unknown> {
    const filter = this.enhancers.filters.find(
      ({ exceptionMetatypes: types }) => types.length === 0 || types.some((type) => error instanceof type),
    );
    if (!filter) throw error;
    return completionOf(await filter.func(error, this.#hostOf(args)));
  }

  #hostOf(args: unknown[]): ExecutionContextHost {
    const host = new ExecutionContextHost(args, this.instance.constructor as never, this.#decorated);
    host.setType(CONTEXT_TYPE);
    return host;
  }
}

/**
 * The asynchronous context of one message: what a guard enters with `AsyncLocalStorage.enterWith()` applies to the message's later steps,
 * but not to the consumer's loop, which goes on with other messages.
 *
 * Promises alone are not enough: until an AsyncLocalStorage is first used, Node.js 20 and 22 keep no context for promises, and a context
 * entered after a promise applies to whatever happens to be running.
 */
class AsyncContext {
  #left = new AsyncResource('DelayedMessage');

  /** Runs a step in the context that the previous step left. */
  run<T>(step: () => T): T {
    return this.#left.runInAsyncScope(() => {
      try {
        return step();
      } finally {
        this.#left = new AsyncResource('DelayedMessage');
      }
    });
  }
}
