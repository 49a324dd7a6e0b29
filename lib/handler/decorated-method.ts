import { DelayQueueError, type DelayQueueErrorCode } from '../message/delay-queue-errors.js';

/** What a method decorator is given, unchecked, and how to refuse it. */
export interface Decoration {
  /** As it is written, such as `@DelayedHandler`. */
  readonly decorator: string;
  readonly code: DelayQueueErrorCode;
  readonly target: object;
  /** An object, if the decorators are those of the language. */
  readonly name: string | symbol | object;
  readonly descriptor: PropertyDescriptor | undefined;
}

/**
 * The method that is decorated. Nothing would ever call anything else.
 *
 * @throws DelayQueueError with the given code, if it is no instance method
 */
export function methodOf({ decorator, code, target, name, descriptor }: Decoration): object {
  const refuse = (place: string, problem: string) => new DelayQueueError(code, `${decorator} on ${place}: ${problem}`);
  if (typeof name === 'object') {
    throw refuse('a method', 'it needs the decorators that Nest has: set experimentalDecorators in tsconfig.json');
  }
  const isStatic = typeof target === 'function';
  const place = `${isStatic ? target.name : target.constructor.name}.${String(name)}`;
  if (isStatic) throw refuse(place, 'a static method is never called: remove static, and provide the class');
  const method: unknown = descriptor?.value;
  if (typeof method !== 'function') {
    throw refuse(
      place,
      `it is a property or an accessor, which is never called: write a method, ${String(name)}() { … }`,
    );
  }
  return method;
}
