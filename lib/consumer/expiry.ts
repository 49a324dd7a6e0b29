import type { MessageContent } from '../message/codec/message-codec.js';
import { isSetAside, unwrapSetAside, wrapSetAside } from '../message/codec/body-forms.js';
import type { Expiry, OnExpired } from '../message/expiry.js';
import type { Outcome } from '../store/consumer-store.js';
import type { Delivery, Terms } from './delivery.js';

/** When the messages of a queue expire that do not say so themselves. */
export type QueueExpiry = Expiry & { readonly onExpired: OnExpired };

/** A body this long is not wrapped: it may be as long as the server accepts. Its retries expire as if they were the first attempt. */
const MAX_WRAPPED = 1024 * 1024 - 100;

/**
 * The terms of a message for which it matters when it first fell due: it expires, repeats, or was put off. The wrapper of a parked
 * message keeps that for the next attempts, whose due times are others.
 */
export class FirstDue implements Terms {
  /** When it first fell due, ms by the store's clock. */
  readonly at: number;
  readonly expiry: Expiry | undefined;
  readonly repeat = undefined;
  /** After this instant it has expired, ms by the store's clock; null: it does not expire. */
  readonly #deadline: number | null;
  readonly #onExpired: OnExpired;
  /** The body without its wrapper. */
  readonly #body: Buffer;
  /** True if the stored body has the wrapper. */
  readonly #isStored: boolean;
  /** True if the next attempts need it. */
  readonly #isNeeded: boolean;

  constructor(
    private readonly delivery: Pick<Delivery, 'dueAt' | 'lease'>,
    stored: Buffer,
    { content, queue }: { readonly content: Pick<MessageContent, 'expiry' | 'repeat'>; readonly queue: QueueExpiry },
  ) {
    const { since, body } = unwrapSetAside(stored);
    const { after, onExpired = queue.onExpired } = content.expiry ?? queue;
    this.at = since ?? delivery.dueAt;
    this.expiry = content.expiry;
    this.#deadline = after === null ? null : this.at + after;
    this.#onExpired = onExpired;
    this.#body = body;
    this.#isStored = isSetAside(stored);
    this.#isNeeded = after !== null || content.repeat !== undefined;
  }

  get expiresAt(): Date | undefined {
    return this.#deadline === null ? undefined : new Date(this.#deadline);
  }

  /** Drops or dead-letters a message that has expired. */
  outcomeWithoutHandler(): Outcome | undefined {
    if (this.#deadline === null) return undefined;
    const lateBy = this.delivery.lease.storeNow() - this.#deadline;
    if (lateBy <= 0) return undefined;
    if (this.#onExpired === 'drop') return { kind: 'ack', lateBy };
    const message = `It had to be handled by ${new Date(this.#deadline).toISOString()}.`;
    return { kind: 'dead', error: JSON.stringify({ name: 'Expired', message }), by: 'expired', lateBy };
  }

  /** Keeps the instant over retries and deferrals. A message that comes again falls due for the first time again. */
  complete(outcome: Outcome): Outcome {
    switch (outcome.kind) {
      case 'again':
        return this.#isStored && outcome.body === undefined ? { ...outcome, body: this.#body } : outcome;
      case 'retry':
      case 'defer':
        if (outcome.body !== undefined || this.#isStored || !this.#isNeeded || this.#body.length > MAX_WRAPPED) {
          return outcome;
        }
        return { ...outcome, body: wrapSetAside(this.#body, this.at) };
      default:
        return outcome;
    }
  }
}
