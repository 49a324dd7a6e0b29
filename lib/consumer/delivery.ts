import type { MessageContent } from '../message/codec/message-codec.js';
import type { MessageHeaders } from '../message/message.js';
import { NO_TYPE } from '../message/message-type.js';
import type { Occurrence } from '../message/repeat-rule.js';
import type { Claim, ClaimedMessage } from '../store/consumer-store.js';
import type { FirstDue } from './first-due.js';
import { HandlerMessage } from './handler-message.js';
import type { Repetition } from '../repeats/repetition.js';

/** Until the body is decoded; one object for all, because there is one delivery for each message. */
const NO_HEADERS: MessageHeaders = Object.freeze({});

/** What the messages of one claim have in common. */
export interface Lease {
  /** The token of the claim. */
  readonly token: string;
  /** The earliest instant at which it can end, on the monotonic clock. */
  end: number;
  /** How many of its messages are neither settled nor lost. */
  held: number;
  /** Estimates what time it is for the store, ms. */
  readonly storeNow: () => number;
}

/** A claimed message on its way through a handler, which gets it as a {@link HandlerMessage}. */
export class Delivery implements Claim {
  readonly id: string;
  type = NO_TYPE;
  payload: unknown;
  headers = NO_HEADERS;
  group: string | undefined;
  /** Undefined: it does not matter. */
  firstDue: FirstDue | undefined;
  /** Undefined: it does not repeat. */
  repetition: Repetition | undefined;
  readonly attempt: number;
  /** ms, by the store's clock. */
  readonly dueAt: number;
  /** ms, by the store's clock. */
  readonly offeredAt: number;
  /** What its handler threw, or why its body is refused. */
  thrown: { readonly error: unknown } | undefined;
  readonly #lease: Lease;
  #loss: 'lease' | 'abort' | undefined;
  #body: Buffer | undefined;
  #message: HandlerMessage | undefined;
  #abortReason: Error | undefined;

  constructor(
    readonly queue: string,
    message: ClaimedMessage,
    lease: Lease,
  ) {
    this.#lease = lease;
    this.id = message.id;
    this.attempt = message.failedAttempts + 1;
    this.dueAt = message.dueAt;
    this.offeredAt = message.offeredAt;
    this.#body = message.body;
  }

  get lease(): Lease {
    return this.#lease;
  }

  get token(): string {
    return this.#lease.token;
  }

  /** Hands over the body, once: the delivery would otherwise keep its bytes for as long as the handler runs. */
  takeBody(): Buffer {
    const body = this.#body!;
    this.#body = undefined;
    return body;
  }

  /** Sets the decoded content. */
  open({ type, payload, headers, group }: MessageContent): void {
    this.type = type;
    this.payload = payload;
    this.headers = headers;
    this.group = group;
  }

  /** What handlers and observers get; to be read once it is known whether it expires or repeats. */
  get message(): HandlerMessage {
    return (this.#message ??= this.#handOut());
  }

  /** The handler gets the headers that were decoded, and may change them; the consumer keeps a copy. */
  #handOut(): HandlerMessage {
    const message = new HandlerMessage(this);
    this.headers = copyOf(this.headers);
    return message;
  }

  /** Sets what a schema has made of the payload. */
  replacePayload(payload: unknown): void {
    this.payload = payload;
    if (this.#message) this.#message.payload = payload;
  }

  /** How many milliseconds ago it fell due. */
  get lateness(): number {
    return Math.max(0, this.#lease.storeNow() - this.dueAt);
  }

  get expiresAt(): Date | undefined {
    const deadline = this.firstDue?.deadline;
    return deadline === undefined ? undefined : new Date(deadline);
  }

  get repeat(): Occurrence | undefined {
    return this.repetition?.occurrence;
  }

  /** How many milliseconds ago it has expired; 0: it has not. */
  get expiredFor(): number {
    return Math.max(0, this.#lease.storeNow() - (this.firstDue?.deadline ?? Infinity));
  }

  /** True if its handler may start at this instant of the monotonic clock: the claim is held, and nothing has aborted the message. */
  mayStart(now: number): boolean {
    return !this.#abortReason && now < this.#lease.end;
  }

  get abortReason(): Error | undefined {
    return this.#abortReason;
  }

  abort(reason: Error): void {
    if (this.#abortReason) return;
    this.#abortReason = reason;
    this.#message?.abort(reason);
  }

  /** Whether the store may have given it to others. */
  get isLost(): boolean {
    return this.#loss !== undefined;
  }

  /** Its claim has ended; `reason` is that of the signal. */
  lose(reason: Error): void {
    this.#loss = reason instanceof MessageAborted ? 'abort' : 'lease';
    this.abort(reason);
  }

  /** Whether somebody has aborted the message: it is gone, and nobody wants to hear of its outcome. */
  get isAborted(): boolean {
    return this.#loss === 'abort';
  }
}

/** Most messages have no headers, and then nothing is allocated. */
function copyOf(headers: MessageHeaders): MessageHeaders {
  for (const _ in headers) return { ...headers };
  return NO_HEADERS;
}

/** The `reason` of a signal: somebody has aborted the message, so it is gone, and the outcome does not count. */
export class MessageAborted extends Error {
  override readonly name = 'MessageAborted';
}

/** The `reason` of a signal: the lease of the message is lost, so the outcome no longer counts. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** The `reason` of a signal: the handler took longer than its `timeout`, so the attempt has failed. */
export class HandlerTimeout extends Error {
  override readonly name = 'HandlerTimeout';
}

/** The `reason` of a signal: the process is about to stop. */
export class ShuttingDown extends Error {
  override readonly name = 'ShuttingDown';
}
