import { setMaxListeners } from 'node:events';
import type { DelayedMessage, MessageHeaders } from '../message/message.js';
import type { Occurrence } from '../message/repeat-rule.js';

/** What the consumer keeps of a message. */
interface MessageSource {
  readonly id: string;
  readonly queue: string;
  readonly type: string;
  readonly payload: unknown;
  readonly headers: MessageHeaders;
  readonly group: string | undefined;
  readonly attempt: number;
  /** ms. */
  readonly dueAt: number;
  /** ms. */
  readonly offeredAt: number;
  readonly expiresAt: Date | undefined;
  readonly repeat: Occurrence | undefined;
  /** ms; changes with the time. */
  readonly lateness: number;
  /** Set when the signal has to abort. */
  readonly abortReason: Error | undefined;
}

/**
 * A message as handlers and observers get it: an object of their own, so whatever they assign changes nothing for the consumer. What
 * changes while they run is read when it is asked for, by accessors of the class: own ones, which a copy by `{ ...message }` would have,
 * take ten times as long to make as all other fields.
 */
export class HandlerMessage implements DelayedMessage {
  readonly id: string;
  readonly queue: string;
  readonly type: string;
  payload: unknown;
  readonly headers: MessageHeaders;
  declare readonly group?: string;
  readonly attempt: number;
  readonly dueAt: Date;
  readonly offeredAt: Date;
  declare readonly expiresAt?: Date;
  declare readonly repeat?: Occurrence;
  readonly #source: MessageSource;
  #controller: AbortController | undefined;

  constructor(source: MessageSource) {
    this.#source = source;
    this.id = source.id;
    this.queue = source.queue;
    this.type = source.type;
    this.payload = source.payload;
    this.headers = source.headers;
    this.attempt = source.attempt;
    this.dueAt = new Date(source.dueAt);
    this.offeredAt = new Date(source.offeredAt);
    const { group, expiresAt, repeat } = source;
    if (group !== undefined) this.group = group;
    if (expiresAt !== undefined) this.expiresAt = expiresAt;
    if (repeat) this.repeat = { ...repeat };
  }

  /** Created on first use: most handlers never read it, and a controller for each message would be costly. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      // A handler may pass it to any number of calls; Node.js would warn of a leak from the 11th on. Of 0, getMaxListeners() throws.
      setMaxListeners(Infinity, this.#controller.signal);
      const { abortReason } = this.#source;
      if (abortReason) this.#controller.abort(abortReason);
    }
    return this.#controller.signal;
  }

  /** Whole milliseconds, as all instants of messages are. */
  get lateness(): number {
    return Math.round(this.#source.lateness);
  }

  /** Aborts the signal, if anything has asked for it. */
  abort(reason: Error): void {
    this.#controller?.abort(reason);
  }
}
