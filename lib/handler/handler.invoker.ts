import { isObservable, lastValueFrom } from 'rxjs';
import type { DelayedMessage } from '../message/message.js';
import type { DelayedMessageHandler } from './handler.registry.js';

/** The only way in which handlers are called. */
export class HandlerInvoker {
  constructor(private readonly handler: DelayedMessageHandler) {}

  /**
   * Calls the handler of a message.
   *
   * @returns a promise of its result if there is something to wait for, else the result: a promise for each message would cost
   * @throws what the handler throws, or its result when it is looked at
   */
  invoke(message: DelayedMessage): unknown {
    const result = this.handler.call(message.payload, message);
    if (isObservable(result)) return lastValueFrom(result, { defaultValue: undefined });
    // A thenable may give several answers, or throw; a promise does not.
    return isPromiseLike(result) ? Promise.resolve(result) : result;
  }
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function';
}
