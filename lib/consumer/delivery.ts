import { setMaxListeners } from 'node:events';
import type { MessageContent } from '../message/codec/message-codec.js';
import type { DelayedMessage, MessageHeaders } from '../message/message.js';
import { NO_TYPE } from '../message/message-id.js';
import type { Occurrence } from '../message/repeat-rule.js';
import { type ComputedBackoff, shownRetries } from '../message/retries.js';
import type { Claim, ClaimedMessage, Outcome } from '../store/consumer-store.js';
import { againWatch } from '../message/again-watch.js';

/** The headers of a message whose body has not been decoded yet. Shared by all deliveries, to save memory. */
const NO_HEADERS: MessageHeaders = Object.freeze({});

/** The lease shared by the messages of one claim. */
export interface Lease {
  readonly token: string;
  /** When the store made the claim, by its own clock, ms. */
  readonly claimedAt: number;
  /** When its answer arrived, on the monotonic clock. */
  readonly receivedAt: number;
  /** The earliest time at which the lease can end, on the monotonic clock. */
  end: number;
  /** The number of the claim's messages that are neither settled nor lost. */
  held: number;
  /** Estimates the store's time, ms: now, or at a given time on the monotonic clock. */
  readonly storeNow: (monotonic?: number) => number;
}

/** A message's own expiry, rule, attempts and backoff, as they are stored. */
export type OwnTerms = Pick<MessageContent, 'expiry' | 'repeat' | 'retries'>;

/** A message's expiry, repetition, attempts and backoff, as the message itself or its queue defines them. */
export interface Terms {
  readonly own: OwnTerms;
  readonly expiresAt: Date | undefined;
  readonly repeat: Occurrence | undefined;
  /** Returns the outcome of a message whose handler should not be called; undefined: call the handler. */
  outcomeWithoutHandler(): Outcome | undefined;
  /** Adds to an outcome what the next attempt or occurrence needs to know. */
  complete(outcome: Outcome): Outcome;
}

/** A claimed message on its way through a handler, which receives it as a {@link HandlerMessage}. */
export class Delivery implements Claim {
  readonly id: string;
  readonly token: string;
  type = NO_TYPE;
  payload: unknown;
  headers = NO_HEADERS;
  group: string | undefined;
  /** Undefined for most messages, which neither expire nor repeat, and have no attempts or backoff of their own. */
  terms: Terms | undefined;
  readonly attempt: number;
  /** When a handler that is still running was started, on the monotonic clock, in whole ms, which take no memory; otherwise -1. */
  startedAt = -1;
  /** By the store's clock, ms. */
  readonly dueAt: number;
  /** By the store's clock, ms. */
  readonly offeredAt: number;
  /** Undefined once the body has been decoded, so that its bytes are not kept for as long as the handler runs. */
  body: Buffer | undefined;
  /** The error that the handler threw, or the reason why the body was refused. */
  thrown: { readonly error: unknown } | undefined;
  /** Why the message's signal must be aborted; undefined while there is no reason. */
  abortReason: Error | undefined;
  /** True if the claim has ended, so that the store may have given the message to another consumer. */
  isLost = false;
  /** True if somebody has aborted the message. It is gone, and its outcome is not reported. */
  isAborted = false;
  #message: HandlerMessage | undefined;

  constructor(
    readonly queue: string,
    message: ClaimedMessage,
    readonly lease: Lease,
  ) {
    this.id = message.id;
    this.token = lease.token;
    this.attempt = message.failedAttempts + 1;
    this.dueAt = message.dueAt;
    this.offeredAt = message.offeredAt;
    this.body = message.body;
  }

  open({ type, payload, headers, group }: MessageContent): void {
    this.type = type;
    this.payload = payload;
    this.headers = headers;
    this.group = group;
  }

  /** The message for handlers and observers. Available only once the terms are known. */
  get message(): HandlerMessage {
    if (!this.#message) {
      this.#message = new HandlerMessage(this);
      // The handler may change the decoded headers, so the consumer keeps a copy.
      this.headers = copyOf(this.headers);
    }
    return this.#message;
  }

  /** Sets the payload that a schema has returned. */
  replacePayload(payload: unknown): void {
    this.payload = payload;
    if (this.#message) this.#message.payload = payload;
  }

  /** Milliseconds since the message fell due. */
  get lateness(): number {
    return Math.max(0, this.lease.storeNow() - this.dueAt);
  }

  /** True if the handler may start at `now` on the monotonic clock: the claim is held, and nothing has aborted the message. */
  mayStart(now: number): boolean {
    return !this.abortReason && now < this.lease.end;
  }

  abort(reason: Error): void {
    if (this.abortReason) return;
    this.abortReason = reason;
    this.#message?.abort(reason);
  }

  /** Called when the claim has ended. `reason` becomes the signal's reason. */
  lose(reason: LeaseLost | MessageAborted): void {
    this.isLost = true;
    this.isAborted = reason instanceof MessageAborted;
    this.abort(reason);
  }
}

/**
 * A message as handlers and observers see it. What they assign to this separate object does not affect the consumer. Fields that change are
 * accessors of the class: own accessors, which `{ ...message }` would copy, take ten times as long to create as all other fields.
 */
class HandlerMessage implements DelayedMessage {
  readonly id: string;
  readonly queue: string;
  readonly type: string;
  payload: unknown;
  readonly headers: MessageHeaders;
  declare readonly group?: string;
  readonly attempt: number;
  readonly dueAt: Date;
  readonly offeredAt: Date;
  declare readonly attempts?: number;
  declare readonly backoff?: ComputedBackoff;
  declare readonly expiresAt?: Date;
  declare readonly repeat?: Occurrence;
  readonly #delivery: Delivery;
  #controller: AbortController | undefined;

  constructor(delivery: Delivery) {
    this.#delivery = delivery;
    this.id = delivery.id;
    this.queue = delivery.queue;
    this.type = delivery.type;
    this.payload = delivery.payload;
    this.headers = delivery.headers;
    this.attempt = delivery.attempt;
    this.dueAt = new Date(delivery.dueAt);
    this.offeredAt = new Date(delivery.offeredAt);
    const { group, terms } = delivery;
    if (group !== undefined) this.group = group;
    if (!terms) return;
    const { expiresAt, repeat, own } = terms;
    if (own.retries) Object.assign(this, shownRetries(own.retries));
    if (expiresAt) this.expiresAt = expiresAt;
    if (repeat) this.repeat = { ...repeat, at: new Date(repeat.at) };
  }

  /** Created on first use: most handlers never read it, and a controller for each message would be costly. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      // A handler may pass the signal to many calls, but Node.js warns from the 11th on. 0 would stop that, but getMaxListeners() throws.
      setMaxListeners(Infinity, this.#controller.signal);
      const { abortReason } = this.#delivery;
      if (abortReason) this.#controller.abort(abortReason);
    }
    return this.#controller.signal;
  }

  /** Rounded to whole milliseconds, like every other time on a message. */
  get lateness(): number {
    return Math.round(this.#delivery.lateness);
  }

  abort(reason: Error): void {
    this.#controller?.abort(reason);
  }
}

/** Returns a copy. Allocates nothing if there are no headers, as in most messages. */
function copyOf(headers: MessageHeaders): MessageHeaders {
  for (const _ in headers) return { ...headers };
  return NO_HEADERS;
}

/** The `reason` of a message's signal after somebody has aborted the message. The message is gone, and its outcome does not count. */
export class MessageAborted extends Error {
  override readonly name = 'MessageAborted';
}

/** The `reason` of a message's signal after the lease was lost. The handler's outcome no longer counts. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** The `reason` of a message's signal after the handler took longer than its `timeout`. The attempt has failed. */
export class HandlerTimeout extends Error {
  override readonly name = 'HandlerTimeout';
}

/** The `reason` of a message's signal when the process is about to stop. */
export class ShuttingDown extends Error {
  override readonly name = 'ShuttingDown';
}

/** Aborts the signals of messages that took too long, and returns the reason. Their handlers may still carry on. */
export function timeOut(deliveries: readonly { abort(reason: Error): void }[], problem: string): HandlerTimeout {
  const reason = new HandlerTimeout(problem);
  againWatch.stop();
  for (const delivery of deliveries) delivery.abort(reason);
  return reason;
}

export const slowHandler = (timeout: number): string => `The handler took longer than its timeout of ${timeout} ms`;

export const slowSchema = (timeout: number): string =>
  `The schema of the payload took longer than the timeout of the handler, ${timeout} ms`;

export const slowObserver = (observer: string, timeout: number): string =>
  `The observer ${observer} did not call next() within the timeout of the handler, ${timeout} ms`;
