import { types } from 'node:util';
import { DelayQueueError, type DelayQueueErrorCode } from './delay-queue.errors.js';
import type { MessageFailure } from './message.js';

const STACK_LINES = 6;
const LONGEST_TEXT = 2000;
const UNREADABLE = 'a value that cannot be shown as text';

/*
 * What a handler, a backoff function or a codec throws or returns is a stranger: to read a property of it, to turn it into
 * text, or only to ask for its class may throw. It is looked at here and nowhere else, and nothing here throws.
 */

/** An error as logs and dead letters keep it: bounded, so that a huge one cannot fill Redis, whatever was thrown. */
export function describeFailure(thrown: unknown): MessageFailure {
  if (!isError(thrown)) return { name: 'NonError', message: textOf(() => thrown) };
  const name = textOf(() => thrown.name);
  const message = textOf(() => thrown.message);
  const stack = textOf(() => thrown.stack ?? '');
  if (stack === '' || stack === UNREADABLE) return { name, message };
  return { name, message, stack: stack.split('\n').slice(0, STACK_LINES).join('\n') };
}

/** An error in a log line. */
export function showFailure(thrown: unknown): string {
  const { name, message } = describeFailure(thrown);
  return `${name}: ${message}`;
}

/** Also one of another realm: what Node.js throws is one in jest. */
function isError(thrown: unknown): thrown is Error {
  return types.isNativeError(thrown) || isInstance(thrown, Error);
}

/** As `instanceof`, which throws on a revoked proxy. */
export function isInstance<T>(value: unknown, type: abstract new (...args: never) => T): value is T {
  try {
    return value instanceof type;
  } catch {
    return false;
  }
}

/** Whether the store says so. */
export function hasCode(error: unknown, ...codes: readonly DelayQueueErrorCode[]): boolean {
  return isInstance(error, DelayQueueError) && codes.includes(error.code);
}

/** Whether a promise came where a plain value was asked for. Nobody waits for it, so its rejection must not end the process. */
export function isStrayPromise(value: unknown): boolean {
  if (!types.isPromise(value)) return false;
  try {
    void follow(value, { onDone: () => undefined, onFailed: () => undefined });
  } catch {
    // Its class cannot be told, so it can be followed by nobody.
  }
  return true;
}

/** As `promise.then`, which may have been replaced. */
export function follow<T>(
  promise: Promise<unknown>,
  { onDone, onFailed }: { onDone: (value: unknown) => T; onFailed: (error: unknown) => T },
): Promise<T> {
  return Promise.prototype.then.call(promise, onDone, onFailed) as Promise<T>;
}

function textOf(read: () => unknown): string {
  try {
    return String(read()).slice(0, LONGEST_TEXT);
  } catch {
    return UNREADABLE;
  }
}
