import { types } from 'node:util';
import { DelayQueueError, type DelayQueueErrorCode } from './delay-queue-errors.js';
import type { MessageFailure } from './message.js';

const STACK_LINES = 6;
const LONGEST_TEXT = 2000;
const UNREADABLE = 'a value that cannot be shown as text';

/*
 * What a handler, a backoff function or a codec throws or returns cannot be trusted: reading a property, converting it to
 * text, or even an `instanceof` check may throw. Such values are inspected only here, and nothing here throws.
 */

/** Describes an error, or whatever was thrown, for logs and dead letters. Bounded, so that a huge error cannot fill Redis. */
export function describeFailure(thrown: unknown): MessageFailure {
  if (!isError(thrown)) return { name: 'NonError', message: textOf(() => thrown) };
  const name = textOf(() => thrown.name);
  const message = textOf(() => thrown.message);
  const stack = textOf(() => thrown.stack ?? '');
  if (stack === '' || stack === UNREADABLE) return { name, message };
  return { name, message, stack: stack.split('\n').slice(0, STACK_LINES).join('\n') };
}

/** Shows an error in a log line. */
export function showFailure(thrown: unknown): string {
  const { name, message } = describeFailure(thrown);
  return `${name}: ${message}`;
}

/** Also recognises errors of another realm: in jest, the errors that Node.js throws are of one. */
export function isError(thrown: unknown): thrown is Error {
  return types.isNativeError(thrown) || isInstance(thrown, Error);
}

/** Like `instanceof`, but false for a revoked proxy, where that throws. */
export function isInstance<T>(value: unknown, type: abstract new (...args: never) => T): value is T {
  try {
    return value instanceof type;
  } catch {
    return false;
  }
}

/** Whether it is a `DelayQueueError` with one of these codes. */
export function hasCode(error: unknown, ...codes: readonly DelayQueueErrorCode[]): error is DelayQueueError {
  return isInstance(error, DelayQueueError) && codes.includes(error.code);
}

/** Whether a promise came instead of a plain value. Nothing awaits it, so its rejection is caught: it must not end the process. */
export function isStrayPromise(value: unknown): boolean {
  if (!types.isPromise(value)) return false;
  try {
    void follow(value, { onDone: () => undefined, onFailed: () => undefined });
  } catch {
    // `then` throws if its constructor cannot be read, so nothing can follow this promise.
  }
  return true;
}

/** Like `promise.then`, which the application may have replaced. */
export function follow<T>(
  promise: Promise<unknown>,
  { onDone, onFailed }: { onDone: (value: unknown) => T; onFailed: (error: unknown) => T },
): Promise<T> {
  return Promise.prototype.then.call(promise, onDone, onFailed) as Promise<T>;
}

/** What is read, as text, cut to a length. Whatever reading or converting it throws, it is text. */
export function textOf(read: () => unknown, longest = LONGEST_TEXT): string {
  try {
    return String(read()).slice(0, longest);
  } catch {
    return UNREADABLE;
  }
}
