import type { HandlerMessage } from './handler-method.js';
import { completionOf } from './completion.js';
import type { DelayedMessageHandler } from './handler-registry.js';

/** Calls handlers; nothing else does. */
export class HandlerInvoker {
  constructor(private readonly handler: DelayedMessageHandler) {}

  /**
   * Calls the handler, with a payload and its message, or with those of a batch.
   *
   * @returns a promise of its result if there is something to wait for, otherwise the result itself: a promise for each
   *   message would be costly
   * @throws what the handler throws, or what inspecting its result throws
   */
  invoke(payload: unknown, message: HandlerMessage): unknown {
    const result = completionOf(this.handler.call(payload, message));
    // A thenable may settle several times, or throw; a promise does not.
    return isPromiseLike(result) ? Promise.resolve(result) : result;
  }
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function';
}
