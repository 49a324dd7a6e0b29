import { types } from 'node:util';
import type { DelayedMessage, MessageHeaders } from './message.js';
import type { DelayQueueEvent } from './delay-queue-events.js';

/**
 * Watches a process's delay queue: each offer, each handler call and each event. All methods are optional; a missing one costs nothing.
 *
 * Pass it to `forRoot({ observers })`, or decorate a provider with `@DelayQueueListener()`. Messages are offered and handled whatever an
 * observer does: what it throws is logged, and what it returns is ignored. There is one exception: if it does not call `next` within the
 * handler's `timeout` or the `offerTimeout`, the attempt or the offer fails with an error that names the observer. The first of several
 * observers is the outermost.
 *
 * @example
 * ```ts
 * class SlowHandlers implements DelayQueueObserver {
 *   async handle(message: DelayedMessage, next: () => HandlingOutcome | Promise<HandlingOutcome>) {
 *     const from = performance.now();
 *     const { kind } = await next();
 *     if (performance.now() - from > 1000) console.log(`${message.queue}: ${message.id} took long: ${kind}`);
 *   }
 * }
 * ```
 */
export interface DelayQueueObserver {
  /**
   * Runs around an offer: `offer`, `offerAt`, or `offerMany` with all of its messages.
   * @param offers - the offers; their arguments have been checked, but their payloads have not
   * @param next - makes the offer; call it once. It rejects if the offer fails. Each message gets the given headers whose names it lacks
   */
  offer?(offers: OfferContext, next: (headers?: MessageHeaders) => Promise<unknown>): unknown;

  /**
   * Wraps each attempt to handle a message. The handler runs in the context where `next` is called, such as a span or `AsyncLocalStorage`.
   * @param next - handles the message; call it once
   */
  handle?(message: DelayedMessage, next: () => HandlingOutcome | Promise<HandlingOutcome>): unknown;

  /**
   * Wraps each call of a handler that takes batches.
   * @param next - handles the messages and returns an outcome for each; call it once
   */
  handleBatch?(
    messages: readonly DelayedMessage[],
    next: () => readonly HandlingOutcome[] | Promise<readonly HandlingOutcome[]>,
  ): unknown;

  /** Called for each event as it happens; keep it short. A returned promise is not awaited. */
  event?(event: DelayQueueEvent): unknown;

  /** Called at startup by a module instance that has a name. Returns the observer that watches that instance in place of this one. */
  forInstance?(name: string): DelayQueueObserver;
}

/** An offer that is about to be made. */
export interface OfferContext {
  readonly queue: string;
  /** A single message, or as many as `offerMany` was given. */
  readonly messages: readonly {
    /** The id given, or the generated one. */
    readonly id: string;
    /** Empty if no type was given. */
    readonly type: string;
    /** The headers given, without any that observers add. */
    readonly headers: MessageHeaders;
    /** The group given; absent if there was none. */
    readonly group?: string | undefined;
  }[];
  /** True if the queue's layout has headers. */
  readonly carriesHeaders: boolean;
}

/** How a handler ended, and what that means for the message. */
export type HandlingOutcome =
  | {
      /**
       * `ack`: the handler is done, and the message is gone. `aborted`: somebody aborted the message; it is gone in any case. `expired`: it
       * was too late to call the handler. `release`: the process is about to stop; the message is ready again, and no attempt is spent.
       */
      readonly kind: 'ack' | 'aborted' | 'expired' | 'release';
    }
  | {
      /** `again`: the handler ended with `again()`. `defer`: the handler ended with a `DeferMessage`, which spends no attempt. */
      readonly kind: 'again' | 'defer';
      /** The time until the message is due again, ms; absent if the handler gave a date. */
      readonly delay?: number;
      /** When the message is due again; absent if the handler gave a delay. */
      readonly at?: Date;
    }
  | {
      /** The handler failed, and the message has attempts left. */
      readonly kind: 'retry';
      /** The time until the message is due again, ms. */
      readonly delay: number;
      /** The error that the handler threw. */
      readonly error: unknown;
    }
  | {
      /** The handler failed for good. */
      readonly kind: 'dead';
      /** The error that the handler threw. */
      readonly error: unknown;
    };

export const OBSERVER_METHODS = [
  'offer',
  'handle',
  'handleBatch',
  'event',
  'forInstance',
] as const satisfies (keyof DelayQueueObserver)[];

/** True if a value has observer methods, all of them functions, and none a generator function, which would never run. */
export function isObserver(given: unknown): given is DelayQueueObserver {
  if (typeof given !== 'object' || given === null) return false;
  const methods = OBSERVER_METHODS.map((name) => (given as Record<string, unknown>)[name]);
  const present = methods.filter((method) => method !== undefined);
  return (
    present.length > 0 && present.every((method) => typeof method === 'function' && !types.isGeneratorFunction(method))
  );
}

/** Functions that run around offers and handler calls. A hook that nobody uses is absent, so nothing needs to be prepared for it. */
export interface Hooks {
  readonly offer?: Around<OfferContext, MessageHeaders, unknown> | undefined;
  readonly handle?: Around<DelayedMessage, never, HandlingOutcome> | undefined;
  readonly handleBatch?: Around<readonly DelayedMessage[], never, readonly HandlingOutcome[]> | undefined;
}

/** Runs `work` on a subject inside a hook, which must start it within the limit. */
export type Around<Subject, Argument, Result> = (
  subject: Subject,
  work: (argument?: Argument) => Result | Promise<Result>,
  limit: HookLimit<Result>,
) => Result | Promise<Result>;

/** How long a hook may delay the start of the work. */
export interface HookLimit<Result> {
  /** The limit, ms; null for none. */
  readonly timeout: number | null;
  /** Returns the result to use if the hook of `owner` takes too long; the work is then never done. Must not throw. */
  readonly onTimeout: (owner: string, timeout: number) => Result | Promise<Result>;
}
