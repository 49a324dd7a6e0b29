import { types } from 'node:util';
import { DelayQueueError, type DelayQueueErrorCode } from './delay-queue-errors.js';
import { Reasons } from './failure-reasons.js';
import type { MessageFailure } from './message.js';
import { isError, textOf, tryReading, UNREADABLE } from './untrusted-value.js';

const STACK_LINES = 6;

/** How many errors of a chain of causes are shown. */
const MOST_ERRORS = 5;

/** Of a long stack, so many lines from where it was thrown are shown, and so many of those that led to it: the handler's is there. */
const FIRST_FRAMES = 30;
const LAST_FRAMES = 20;
const LONGEST_FRAME = 300;

/*
 * What a handler, a backoff function or a codec throws or returns cannot be trusted: reading a property, converting it to
 * text, or even an `instanceof` check may throw. Such values are inspected only here, and only `isThenable` throws.
 */

/**
 * Describes an error, or whatever was thrown, for logs and dead letters. Bounded, so that a huge error cannot fill Redis. Of what an
 * error carries besides its message, only what tells the reason is shown: the rest may be a payload, or a secret.
 */
export function describeFailure(thrown: unknown): MessageFailure {
  const message = textOf(() => new Reasons().of(thrown));
  if (!isError(thrown)) return { name: 'NonError', message };
  const name = textOf(() => thrown.name);
  const stack = textOf(() => thrown.stack ?? '');
  if (stack === '' || stack === UNREADABLE) return { name, message };
  return { name, message, stack: stack.split('\n').slice(0, STACK_LINES).join('\n') };
}

/** Shows an error in a log line, without its causes. */
export function showFailure(thrown: unknown): string {
  if (!isError(thrown)) return `NonError: ${textOf(() => new Reasons().of(thrown))}`;
  return `${textOf(() => thrown.name)}: ${textOf(() => thrown.message)}`;
}

/**
 * Shows the stack of an error with those of its causes, for the log. Bounded, but far longer than what a dead letter keeps. Empty if
 * there is none.
 */
export function traceOf(thrown: unknown): string {
  const shown: string[] = [];
  const seen = new Set<unknown>();
  let next = thrown;
  while (isError(next) && !seen.has(next) && shown.length < MOST_ERRORS) {
    const error = next;
    seen.add(error);
    shown.push(shorten(textOf(() => error.stack ?? '', Infinity)));
    next = tryReading(() => error.cause);
  }
  if (shown.length > 0 && next !== undefined && !isError(next)) shown.push(textOf(() => new Reasons().of(next)));
  return shown.join('\ncaused by ');
}

/** The first lines of a stack repeat the message, which may be long. */
function shorten(stack: string): string {
  const start = stack.search(/^ +at /m);
  if (start < 0) return textOf(() => stack);
  const frames = stack
    .slice(start)
    .split('\n')
    .map((frame) => textOf(() => frame, LONGEST_FRAME));
  const left = frames.length - FIRST_FRAMES - LAST_FRAMES;
  if (left > 0) frames.splice(FIRST_FRAMES, left, `    ... ${left} more`);
  return [textOf(() => stack.slice(0, start).trimEnd()), ...frames].join('\n');
}

/** Whether `await` would wait for it. Throws what reading the value throws. */
export function isThenable(value: unknown): boolean {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
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
