import type { DelayedMessage } from '../message/message.js';
import type { InstanceWrapper } from './nest-internals.js';

/** What a handler is given beside the payload; an array, if it takes many messages in one call. */
export type HandlerMessage = DelayedMessage | readonly DelayedMessage[];

/** Calls a handler with what every handler is given. */
export type HandlerCall = (payload: unknown, message: HandlerMessage) => unknown;

/** What has the method of a handler. */
export type HandlerInstance = Record<string, (...args: unknown[]) => unknown>;

/** A decorated method, as its class has it: of a scoped provider there is no instance yet. */
export interface HandlerMethod {
  /** Where Nest keeps its class and the instances. */
  readonly host: InstanceWrapper;
  readonly prototype: object;
  readonly name: string;
  /** For errors. */
  readonly place: string;
}

/** The method that the decorators have decorated; an instance may have something else in its place, such as a spy. */
export function decoratedMethod({
  prototype,
  name,
}: Pick<HandlerMethod, 'prototype' | 'name'>): (...args: unknown[]) => unknown {
  return (prototype as HandlerInstance)[name]!;
}

/** Whether Nest makes its instances when they are asked for, rather than one at start-up. */
export function isScoped(host: InstanceWrapper): boolean {
  return host.isTransient || !host.isDependencyTreeStatic();
}

/** What has the methods of its class. A scoped provider has no instance, so its class is used. */
export function prototypeOf({ instance, metatype }: InstanceWrapper): object | undefined {
  if (typeof instance === 'object' && instance !== null) return Object.getPrototypeOf(instance) as object;
  return typeof metatype === 'function' ? (metatype.prototype as object | undefined) : undefined;
}
