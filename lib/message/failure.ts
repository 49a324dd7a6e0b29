import { types } from 'node:util';
import { DelayQueueError, type DelayQueueErrorCode } from './delay-queue-errors.js';
import type { MessageFailure } from './message.js';
import { isError, textOf, tryReading, UNREADABLE } from './untrusted-value.js';

const STACK_LINES = 6;

/** The maximum number of errors shown from a chain of causes. */
const MAX_ERRORS = 5;

/** How many frames of a long stack are shown: the first ones, nearest to the throw, and the last ones, where the handler is. */
const FIRST_FRAMES = 30;
const LAST_FRAMES = 20;
const MAX_FRAME = 300;

/*
 * Values that a handler, a backoff function or a codec throws or returns cannot be trusted: reading a property, converting to text, or even
 * `instanceof` may throw. They are inspected only here, and only `isThenable` throws.
 */

/**
 * Describes anything thrown, for logs and dead letters. Its length is limited, so a huge error cannot fill Redis. It shows only the message
 * and the known fields that give a reason, because other fields may hold a payload or a secret.
 */
export function describeFailure(thrown: unknown): MessageFailure {
  const message = textOf(() => new Reasons().of(thrown));
  if (!isError(thrown)) return { name: 'NonError', message };
  const name = textOf(() => thrown.name);
  const stack = textOf(() => thrown.stack ?? '');
  if (stack === '' || stack === UNREADABLE) return { name, message };
  return { name, message, stack: stack.split('\n').slice(0, STACK_LINES).join('\n') };
}

/** Reads a dead letter's error. Never fails, because an unreadable error must not hide the message. */
export function readFailure(text: string): MessageFailure {
  try {
    const { name, message, stack } = JSON.parse(text) as Partial<Record<keyof MessageFailure, unknown>>;
    if (typeof name === 'string' && typeof message === 'string') {
      return { name, message, ...(typeof stack === 'string' && { stack }) };
    }
  } catch {
    // This package always writes JSON, so something else wrote this error.
  }
  return { name: 'Unknown', message: `The error of this dead letter cannot be read: ${text}` };
}

/** Shows an error in a log line, without its causes. */
export function showFailure(thrown: unknown): string {
  if (!isError(thrown)) return `NonError: ${textOf(() => new Reasons().of(thrown))}`;
  return `${textOf(() => thrown.name)}: ${textOf(() => thrown.message)}`;
}

/** Formats the stacks of an error and its causes for the log; empty if there are none. Limited, but far longer than in a dead letter. */
export function traceOf(thrown: unknown): string {
  const shown: string[] = [];
  const seen = new Set<unknown>();
  let next = thrown;
  while (isError(next) && !seen.has(next) && shown.length < MAX_ERRORS) {
    const error = next;
    seen.add(error);
    shown.push(shorten(textOf(() => error.stack ?? '', Infinity)));
    next = tryReading(() => error.cause);
  }
  if (shown.length > 0 && next !== undefined && !isError(next)) shown.push(textOf(() => new Reasons().of(next)));
  return shown.join('\ncaused by ');
}

/** Shortens a stack. Its first lines repeat the message, which may be long. */
function shorten(stack: string): string {
  const start = stack.search(/^ +at /m);
  if (start < 0) return textOf(() => stack);
  const frames = stack
    .slice(start)
    .split('\n')
    .map((frame) => textOf(() => frame, MAX_FRAME));
  const left = frames.length - FIRST_FRAMES - LAST_FRAMES;
  if (left > 0) frames.splice(FIRST_FRAMES, left, `    ... ${left} more`);
  return [textOf(() => stack.slice(0, start).trimEnd()), ...frames].join('\n');
}

/** True if the value is a thenable, so `await` would wait for it. Throws whatever reading its `then` throws. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

/** Like `instanceof`, but returns false for a revoked proxy, for which `instanceof` throws. */
export function isInstance<T>(value: unknown, type: abstract new (...args: never) => T): value is T {
  try {
    return value instanceof type;
  } catch {
    return false;
  }
}

export function hasCode(error: unknown, ...codes: readonly DelayQueueErrorCode[]): error is DelayQueueError {
  return isInstance(error, DelayQueueError) && codes.includes(error.code);
}

/** True for a promise where a plain value is expected. Nothing awaits it, so its rejection, which could end the process, is caught here. */
export function isStrayPromise(value: unknown): boolean {
  if (!types.isPromise(value)) return false;
  try {
    void follow(value, { onDone: () => undefined, onFailed: () => undefined });
  } catch {
    // `then` throws if the promise's constructor cannot be read, so nothing can follow the promise.
  }
  return true;
}

/** Does what `promise.then` does without calling it, because the application may have replaced it. */
export function follow<T>(
  promise: Promise<unknown>,
  { onDone, onFailed }: { onDone: (value: unknown) => T; onFailed: (error: unknown) => T },
): Promise<T> {
  return Promise.prototype.then.call(promise, onDone, onFailed) as Promise<T>;
}

/** The maximum number of errors and objects shown from one thrown value, and how deep they may be nested. */
const MAX_SHOWN = 12;
const DEEPEST = 4;
/** The maximum number of list elements shown. */
const MAX_OF_LIST = 5;
const MAX_REASON = 300;

/** Fields in which objects that are not errors give a reason. Any other field may hold a payload or a secret, so only its name is shown. */
const REASON_FIELDS = ['name', 'status', 'statusCode', 'code', 'error', 'message', 'reason', 'details'] as const;

/** The maximum number and length of field names shown for an object without any of these fields. */
const MAX_NAMES = 10;
const MAX_NAME = 40;

type Fields = Readonly<Record<string, unknown>>;

class Reasons {
  readonly #seen = new Set<unknown>();

  /** Returns the text of anything thrown. Never throws. */
  of(thrown: unknown): string {
    return this.#reasonOf(thrown, 0) ?? UNREADABLE;
  }

  /** Returns undefined if the value was shown before, or if enough has been shown. */
  #reasonOf(value: unknown, depth: number): string | undefined {
    if (typeof value !== 'object' || value === null) return textOf(() => value);
    if (this.#seen.has(value) || this.#seen.size >= MAX_SHOWN || depth > DEEPEST) return undefined;
    this.#seen.add(value);
    if (isError(value)) return this.#reasonOfError(value, depth);
    if (tryReading(() => Array.isArray(value))) return this.#reasonsIn(value as readonly unknown[], depth).join(', ');
    return this.#reasonOfObject(value as Fields, depth);
  }

  #reasonOfError(error: Error, depth: number): string {
    const fields = error as unknown as Fields;
    // A failed connection to several addresses gives an error with a code but no message.
    let text = textOf(() => error.message || (fields.code ?? ''));
    const carried = this.#carriedBy(fields, depth).filter((reason) => !text.includes(reason));
    if (carried.length > 0) text += `${text === '' ? '' : ': '}${carried.join(', ')}`;
    const cause = tryReading(() => error.cause);
    const reason = cause === undefined ? undefined : this.#named(cause, depth);
    // Many errors repeat the message of their cause.
    if (reason && !text.includes(reason.message)) text += `; caused by ${reason.text}`;
    return text;
  }

  /** Returns the reasons that a ValidationPipe, another Nest exception, or an AggregateError carries in addition to its message. */
  #carriedBy(fields: Fields, depth: number): string[] {
    const response = tryReading(() => (fields.response as Fields | undefined)?.message);
    const given = tryReading(() => fields.error);
    const errors = tryReading(() => fields.errors);
    return [response, typeof given === 'object' ? given : undefined, errors]
      .filter((carried) => carried !== undefined && carried !== null)
      .flatMap((carried) =>
        this.#reasonsIn(tryReading(() => Array.isArray(carried)) ? (carried as unknown[]) : [carried], depth),
      );
  }

  #reasonsIn(list: readonly unknown[], depth: number): string[] {
    const length = tryReading(() => list.length) ?? 0;
    const reasons: string[] = [];
    for (let i = 0; i < Math.min(length, MAX_OF_LIST); i++) {
      const { text } =
        this.#named(
          tryReading(() => list[i]),
          depth,
        ) ?? {};
      if (text) reasons.push(text);
    }
    if (length > MAX_OF_LIST) reasons.push(`${length - MAX_OF_LIST} more`);
    return reasons;
  }

  /** Prefixes an error's text with its name, as logs do. */
  #named(value: unknown, depth: number): { readonly text: string; readonly message: string } | undefined {
    const reason = this.#reasonOf(value, depth + 1);
    if (reason === undefined) return undefined;
    const message = reason.slice(0, MAX_REASON);
    return { message, text: isError(value) ? `${textOf(() => value.name, MAX_NAME)}: ${message}` : message };
  }

  #reasonOfObject(object: Fields, depth: number): string {
    const violations = this.#violationsOf(object, depth);
    if (violations.length > 0) return violations.join(', ');
    const reasons = REASON_FIELDS.map((name) => [name, tryReading(() => object[name])] as const)
      .filter(([, value]) => value !== undefined && value !== null && typeof value !== 'function')
      .map(([name, value]) => [name, this.#reasonOf(value, depth + 1)?.slice(0, MAX_REASON)] as const)
      .filter(([, reason]) => reason !== undefined && reason !== '');
    if (reasons.length > 0) return reasons.map(([name, reason]) => `${name}: ${reason}`).join(', ');
    const text = textOf(() => object, MAX_REASON);
    if (!text.startsWith('[object ')) return text;
    const names = tryReading(() => Object.keys(object)) ?? [];
    const shown = names.slice(0, MAX_NAMES).map((name) => name.slice(0, MAX_NAME));
    return `an object with ${names.length === 0 ? 'no fields' : `the fields ${shown.join(', ')}${names.length > shown.length ? ', …' : ''}`}`;
  }

  /** Returns the violations in a ValidationError of class-validator, without its `target` and `value`. */
  #violationsOf(object: Fields, depth: number): string[] {
    const property = tryReading(() => object.property);
    const constraints = tryReading(() => Object.values(object.constraints as Record<string, unknown>)) ?? [];
    const children = tryReading(() => object.children);
    if (typeof property !== 'string') return [];
    const own = constraints.slice(0, MAX_OF_LIST).map((constraint) => textOf(() => constraint, MAX_REASON));
    const below = tryReading(() => Array.isArray(children)) ? this.#reasonsIn(children as unknown[], depth) : [];
    return [...own, ...below.map((reason) => `${property}.${reason}`)];
  }
}
