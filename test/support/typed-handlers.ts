import { Injectable, type Type } from '@nestjs/common';
import { DelayedHandler, type DelayedMessage } from '../../lib/index.js';

/** A provider with a handler for each of some types of a queue; each is a method of the type's name. */
export function typedHandlersOf(
  queue: string,
  handlers: Readonly<Record<string, (payload: never, message: DelayedMessage) => unknown>>,
): Type {
  @Injectable()
  class TypedHandlers {}
  for (const [type, handle] of Object.entries(handlers)) {
    const descriptor = { configurable: true, writable: true, value: handle.bind(undefined) };
    Object.defineProperty(TypedHandlers.prototype, type, descriptor);
    DelayedHandler(queue, type)(TypedHandlers.prototype, type, descriptor);
  }
  return TypedHandlers;
}
