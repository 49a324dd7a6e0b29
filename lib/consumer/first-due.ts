import { isPutOff, unwrapPutOff, wrapPutOff } from '../message/codec/body-forms.js';
import type { Expiry, OnExpired } from '../message/expiry.js';
import { LEASE_EXPIRED, type Outcome } from '../store/consumer-store.js';
import type { Delivery, OwnTerms, Terms } from './delivery.js';

/** The expiry of messages offered without their own. */
export type QueueExpiry = Expiry & { readonly onExpired: OnExpired };

/** The maximum size of a body that is wrapped, bytes. A longer one may be at the server's limit; its retries expire like first attempts. */
const MAX_WRAPPED = 1024 * 1024 - 100;

/** The outcome of a message whose last attempt ended with its lease. */
export const ATTEMPTS_SPENT: Outcome = { kind: 'dead', error: JSON.stringify(LEASE_EXPIRED), by: 'lease' };

/**
 * The terms of a message that does not repeat. Its expiry counts from the first due time. Later attempts have other due times, so a wrapper
 * around the body keeps the first.
 */
export class FirstDue implements Terms {
  /** When the message first fell due, ms by the store's clock. */
  readonly at: number;
  /** True if the message was retried, deferred or put off before, so that its stored body has the wrapper. */
  readonly wasDelayedAgain: boolean;
  readonly own: OwnTerms;
  readonly repeat = undefined;
  /** The time after which the message has expired, ms by the store's clock; null if it does not expire. */
  readonly #deadline: number | null;
  readonly #onExpired: OnExpired;
  readonly #body: Buffer;
  /** True if the next attempts need the wrapper. */
  readonly #isNeeded: boolean;

  constructor(
    private readonly delivery: Pick<Delivery, 'attempt' | 'dueAt' | 'lease'>,
    stored: Buffer,
    { content, queue }: { readonly content: OwnTerms; readonly queue: QueueExpiry },
  ) {
    const { expiry, repeat, retries } = content;
    const { since, body } = unwrapPutOff(stored);
    const { after, onExpired = queue.onExpired } = expiry ?? queue;
    this.at = since ?? delivery.dueAt;
    this.own = { expiry, repeat, retries };
    this.#deadline = after === null ? null : this.at + after;
    this.#onExpired = onExpired;
    this.#body = body;
    this.wasDelayedAgain = isPutOff(stored);
    this.#isNeeded = after !== null || repeat !== undefined;
  }

  get expiresAt(): Date | undefined {
    return this.#deadline === null ? undefined : new Date(this.#deadline);
  }

  /** Dead-letters a message that has spent its own attempts, because its last lease expired; drops or dead-letters one that has expired. */
  outcomeWithoutHandler(): Outcome | undefined {
    if (this.delivery.attempt > (this.own.retries?.attempts ?? Infinity)) return ATTEMPTS_SPENT;
    if (this.#deadline === null) return undefined;
    const lateBy = this.delivery.lease.storeNow() - this.#deadline;
    if (lateBy <= 0) return undefined;
    if (this.#onExpired === 'drop') return { kind: 'ack', lateBy };
    const message = `It had to be handled by ${new Date(this.#deadline).toISOString()}.`;
    return { kind: 'dead', error: JSON.stringify({ name: 'Expired', message }), by: 'expired', lateBy };
  }

  /** Keeps the first due time through retries and deferrals. After `again`, the next due time counts as the first. */
  complete(outcome: Outcome): Outcome {
    switch (outcome.kind) {
      case 'again':
        return this.wasDelayedAgain && outcome.body === undefined ? { ...outcome, body: this.#body } : outcome;
      case 'retry':
      case 'defer':
        if (outcome.body !== undefined || this.wasDelayedAgain || !this.#isNeeded || this.#body.length > MAX_WRAPPED) {
          return outcome;
        }
        return { ...outcome, body: wrapPutOff(this.#body, this.at) };
      default:
        return outcome;
    }
  }
}
