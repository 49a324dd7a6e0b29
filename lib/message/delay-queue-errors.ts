/**
 * The stable codes of {@link DelayQueueError}; `docs/errors.md` explains each one.
 *
 * - `INVALID_OPTION`: a module, queue or decorator option is unknown, malformed or out of range.
 * - `INVALID_ARGUMENT`: a queue name, id, delay, date, header, cursor, limit or other argument is malformed or out of range.
 * - `INVALID_PAYLOAD`: JSON cannot represent all or part of the payload (undefined, a promise, a Map, `NaN`, a BigInt, a cycle…).
 * - `PAYLOAD_TOO_LARGE`: the encoded payload and headers exceed `maxPayloadBytes`, or Redis' `proto-max-bulk-len`.
 * - `INVALID_HANDLER`: a `@DelayedHandler` method cannot be used: its queue name or type is malformed or already has a handler, the named
 *   instance does not exist, the method is on a request-scoped controller, or Nest has no instance of one of its guards…
 * - `INVALID_LISTENER`: a `@DelayQueueListener()` or `@OnDelayQueueEvent` cannot be used: its event or queue is malformed, the named
 *   instance does not exist, or its class is request-scoped.
 * - `DUPLICATE_MESSAGE`: the id is in use, and the offer was made with `onDuplicate: 'reject'`.
 * - `QUEUE_FULL`: the queue already holds `maxMessages` messages.
 * - `UNSUPPORTED_BY_LAYOUT`: the queue's layout cannot do what was asked.
 * - `UNSUPPORTED_SERVER`: Redis is too old, evicts keys when its memory is full, or does not know a command that the module needs.
 * - `MISSING_PERMISSION`: the Redis user lacks a permission that a queue needs.
 * - `LOGIN_REFUSED`: Redis refuses the user, password, database or protocol of the connection; nothing was written.
 * - `OFFER_TIMEOUT`: the application's observer or schema held up an offer for too long; nothing was written.
 * - `NOT_CONNECTED`: Redis could not be reached in time; nothing was written.
 * - `OUTCOME_UNKNOWN`: the connection broke, or no reply came in time; the command may have been carried out. Or a call for a whole queue
 *   or group was carried out only in part; `cause.errors` says where it failed.
 * - `NOT_REPLICATED`: Redis has carried out the call, but may not have replicated it as `acknowledge` requires.
 * - `STORE_REFUSED`: Redis answered with an error (OOM, READONLY, WRONGTYPE, NOPERM…); nothing was written.
 * - `CLOSED`: the application has shut down.
 * - `NOT_STARTED`: in a test, the tester was called before the application's `init()`.
 * - `UNFINISHED`: in a test, a handler did not end, or messages kept coming.
 */
export type DelayQueueErrorCode =
  | 'INVALID_OPTION'
  | 'INVALID_ARGUMENT'
  | 'INVALID_PAYLOAD'
  | 'PAYLOAD_TOO_LARGE'
  | 'INVALID_HANDLER'
  | 'INVALID_LISTENER'
  | 'DUPLICATE_MESSAGE'
  | 'QUEUE_FULL'
  | 'UNSUPPORTED_BY_LAYOUT'
  | 'UNSUPPORTED_SERVER'
  | 'MISSING_PERMISSION'
  | 'LOGIN_REFUSED'
  | 'OFFER_TIMEOUT'
  | 'NOT_CONNECTED'
  | 'OUTCOME_UNKNOWN'
  | 'NOT_REPLICATED'
  | 'STORE_REFUSED'
  | 'CLOSED'
  | 'NOT_STARTED'
  | 'UNFINISHED';

/** The property by which all copies of the package in a process recognize an instance's class. */
const CLASS = Symbol.for('nestjs-delay-queue:class');

/**
 * Makes `instanceof` recognize instances from other copies of the package, as in a monorepo. Subclasses are not affected.
 * @param name - unique to the class and stable across releases
 */
export function recognizeAcrossCopies(type: abstract new (...args: never) => object, name: string): void {
  Object.defineProperty(type.prototype, CLASS, { value: name });
  Object.defineProperty(type, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      if (this !== type) return Function.prototype[Symbol.hasInstance].call(this as () => unknown, value);
      return typeof value === 'object' && value !== null && (value as { [CLASS]?: unknown })[CLASS] === name;
    },
  });
}

/**
 * The one error type of this package. Branch on `code`; `message` says what to do; `cause` is the underlying error.
 *
 * @example
 * ```ts
 * try {
 *   await producer.offer('orders', { orderId }, '30m', { id, onDuplicate: 'reject' });
 * } catch (error) {
 *   if (error instanceof DelayQueueError && error.code === 'DUPLICATE_MESSAGE') return;
 *   throw error;
 * }
 * ```
 */
export class DelayQueueError extends Error {
  /** The error's name in logs. */
  override readonly name = 'DelayQueueError';

  /** The id of the offered message, given or generated, if the error concerns a single message. */
  declare readonly messageId?: string;

  /**
   * @param message - what happened and how to fix it, as human-readable text
   * @param options - `cause`: the underlying error; `messageId`: the id of the message concerned
   */
  constructor(
    /** Identifies what happened; stable across releases. */
    readonly code: DelayQueueErrorCode,
    message: string,
    options: ErrorOptions & { readonly messageId?: string } = {},
  ) {
    super(message, options);
    if (options.messageId !== undefined) this.messageId = options.messageId;
  }
}

recognizeAcrossCopies(DelayQueueError, 'DelayQueueError');

/** Gives one message of a failed call its own error with the message's id, so the call can be repeated with the same ids. */
export function withMessageId(error: unknown, messageId: string): unknown {
  if (!(error instanceof DelayQueueError) || error.messageId !== undefined) return error;
  return new DelayQueueError(error.code, `${error.message} (message id '${messageId}')`, { cause: error, messageId });
}
