import type { DelayedMessage, MessageHeaders } from '../message/message.js';
import type { DelayQueueEvent } from './delay-queue-events.js';

/**
 * Watches the delay queue of a process: around each offer and each call of a handler, and event by event. All methods are optional,
 * and what is not there costs nothing.
 *
 * Give it in `forRoot({ observers })`, or decorate a provider with `@DelayQueueListener()`. Whatever an observer does, messages are
 * offered and handled as without it: what it throws is logged, and its results count for nothing. Only one that does not call `next`
 * within the `timeout` of the handler, or within `offerTimeout`, fails the attempt or the offer, which names it. Of several, the
 * first is the outermost.
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
   * Around an offer: `offer`, `offerAt`, or `offerMany` with all of its messages. It rejects if the offer fails.
   *
   * @param offers - whose arguments are checked, but not yet their payloads
   * @param next - makes the offer, once; the headers that it is given travel with each message, unless the message has one of that
   *   name already
   */
  offer?(offers: OfferContext, next: (headers?: MessageHeaders) => Promise<unknown>): unknown;

  /**
   * Around the handling of one message, retries each on their own. The context that it calls `next` in, such as a span or an
   * `AsyncLocalStorage`, is that of the handler.
   *
   * @param next - handles the message, once
   */
  handle?(message: DelayedMessage, next: () => HandlingOutcome | Promise<HandlingOutcome>): unknown;

  /**
   * Around one call of a handler that takes batches.
   *
   * @param next - handles the messages, once; gives an outcome for each
   */
  handleBatch?(
    messages: readonly DelayedMessage[],
    next: () => readonly HandlingOutcome[] | Promise<readonly HandlingOutcome[]>,
  ): unknown;

  /** Called for each event, at once; keep it short. A promise is not awaited. */
  event?(event: DelayQueueEvent): unknown;
}

/** What is about to be offered. */
export interface OfferContext {
  /** The name of the queue. */
  readonly queue: string;
  /** One, or as many as `offerMany` was given. */
  readonly messages: readonly OfferedEnvelope[];
  /** Whether messages of the queue have headers; not every layout has them. */
  readonly carriesHeaders: boolean;
}

/** What is known of a message before its payload is encoded. */
export interface OfferedEnvelope {
  /** As given, or generated. */
  readonly id: string;
  /** Empty if none was given. */
  readonly type: string;
  /** As given; those of observers are not among them. */
  readonly headers: MessageHeaders;
}

/** How a handler ended, and what becomes of its message. */
export type HandlingOutcome = Acknowledged | ComesAgain | WillBeRetried | BecameDeadLetter | GivenBack;

/** The handler is done, and its message gone. */
export interface Acknowledged {
  /** What tells it from the other outcomes. */
  readonly kind: 'ack';
}

/** The handler returned `again()` or threw a `DeferMessage`. */
export interface ComesAgain {
  /** `again`: with all its attempts; `defer`: with those that are left. */
  readonly kind: 'again' | 'defer';
  /** Until the message is due again, ms; absent if the handler gave a date. */
  readonly delay?: number;
  /** When the message is due again; absent if the handler gave a delay. */
  readonly at?: Date;
}

/** The handler failed, and its message has attempts left. */
export interface WillBeRetried {
  /** What tells it from the other outcomes. */
  readonly kind: 'retry';
  /** Until the message is due again, ms. */
  readonly delay: number;
  /** What the handler threw. */
  readonly error: unknown;
}

/** The handler failed for good. */
export interface BecameDeadLetter {
  /** What tells it from the other outcomes. */
  readonly kind: 'dead';
  /** What the handler threw. */
  readonly error: unknown;
}

/** The process is about to stop, and the message goes back with no attempt spent. */
export interface GivenBack {
  /** What tells it from the other outcomes. */
  readonly kind: 'release';
}

export const OBSERVER_METHODS = [
  'offer',
  'handle',
  'handleBatch',
  'event',
] as const satisfies (keyof DelayQueueObserver)[];

/** Whether it has some of the methods of an observer, and nothing else under their names. */
export function isObserver(given: unknown): given is DelayQueueObserver {
  if (typeof given !== 'object' || given === null) return false;
  const methods = OBSERVER_METHODS.map((name) => (given as Record<string, unknown>)[name]);
  const present = methods.filter((method) => method !== undefined);
  return present.length > 0 && present.every((method) => typeof method === 'function');
}
