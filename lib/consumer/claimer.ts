import type { Events } from '../events/events.js';
import { randomBytes } from 'node:crypto';
import type { Clock } from '../timing/clock.js';
import { DelayQueueError } from '../message/delay-queue.errors.js';
import type { ClaimedMessage, ClaimRequest, MessageFlow } from '../store/message-flow.js';
import { hasCode } from '../message/failure.js';

/** The most bytes of bodies that one claim takes: an answer must arrive in time over a slow connection, too. */
const MOST_BYTES = 1024 * 1024;

/** After so many claims in a row without an answer, others get their messages. */
const MOST_UNANSWERED = 3;

/** No claim asks for a smaller part of what it would ask for otherwise. */
const SMALLEST_SHARE = 1 / 16;

export interface ClaimerOptions {
  readonly queue: string;
  readonly store: Pick<MessageFlow, 'claim' | 'ring'>;
  readonly clock: Clock;
  readonly events: Events;
  /** Length of a lease, ms. */
  readonly lease: number;
  /** After which the store gives up a call, ms. */
  readonly answerTimeout: number;
}

/** What a claim took. */
export interface Claimed {
  readonly token: string;
  /** When it was sent, on the monotonic clock: its lease cannot have begun before. */
  readonly sentAt: number;
  readonly answeredAt: number;
  readonly messages: readonly ClaimedMessage[];
  /** Whether ready messages remain. */
  readonly more: boolean;
}

/**
 * Asks the store for messages, so that none stays with a claim whose answer got lost: the next claim comes in its place,
 * and asks for half, in case the answer was too long for the connection. After some of these, all is given back.
 */
export class Claimer {
  readonly #options: ClaimerOptions;
  readonly #consumerId = randomBytes(9).toString('base64url');
  #claims = 0;
  /** Tokens of claims that may hold messages of which nobody here knows, oldest first. */
  #unanswered: string[] = [];
  #misses = 0;
  /** The claim that is under way. */
  #sent: { readonly token: string; readonly sentAt: number } | undefined;
  /** The part that is asked for. */
  #share = 1;

  constructor(options: ClaimerOptions) {
    this.#options = options;
  }

  /**
   * Takes ready messages, `limit` at most.
   *
   * @throws what the store throws
   */
  async claim(limit: number): Promise<Claimed> {
    const { lease, queue } = this.#options;
    for (;;) {
      const claimed = await this.#ask(limit);
      const took = claimed.answeredAt - claimed.sentAt;
      if (took < lease) {
        this.#answered(took);
        return claimed;
      }
      // The lease may have ended, and the messages be another's: what is still held gets a new lease.
      if (await this.#isGivenUp(claimed.token)) {
        throw new DelayQueueError('OUTCOME_UNKNOWN', `${queue}: claims are answered later than their leases end`);
      }
    }
  }

  /**
   * Gives back what unanswered claims may hold, with no attempt spent, and rings for all that is ready.
   *
   * @throws what the store throws
   */
  async giveBack(): Promise<void> {
    for (const token of [...this.#unanswered]) await this.#end(token);
    await this.#options.store.ring();
  }

  /**
   * Ends the claim that is under way if its lease may have ended. Called when the event loop was blocked for so long: what was
   * taken goes back before a transfer of this process finds the lease ended, and spends an attempt.
   */
  giveBackIfLate(): void {
    const sent = this.#sent;
    if (!sent || this.#options.clock.monotonic() < sent.sentAt + this.#options.lease) return;
    this.#sent = undefined;
    void this.#end(sent.token).catch(() => undefined);
  }

  async #ask(limit: number): Promise<Claimed> {
    const { store, clock } = this.#options;
    // One claim takes the place of one other. None of these was answered, so which of them took something is not known.
    for (const token of this.#unanswered.slice(0, -1)) await this.#end(token);
    const request = this.#request(limit);
    const { token } = request;
    const sentAt = clock.monotonic();
    this.#sent = { token, sentAt };
    try {
      const { messages, more, orphans } = await store.claim(request);
      this.#unanswered = [];
      this.#tellOf(orphans);
      return { token, sentAt, answeredAt: clock.monotonic(), messages, more };
    } catch (error) {
      if (!hasCode(error, 'NOT_CONNECTED', 'LOGIN_REFUSED', 'STORE_REFUSED')) await this.#isGivenUp(token);
      throw error;
    } finally {
      this.#sent = undefined;
    }
  }

  #request(limit: number): ClaimRequest {
    const insteadOf = this.#unanswered.at(-1);
    return {
      token: this.#newToken(),
      ...(insteadOf !== undefined && { insteadOf }),
      limit: Math.max(1, Math.floor(limit * this.#share)),
      maxBytes: Math.floor(MOST_BYTES * this.#share),
      lease: this.#options.lease,
    };
  }

  #answered(took: number): void {
    this.#misses = 0;
    // Twice as much will arrive in half of the time that there is.
    if (took < this.#options.answerTimeout / 4) this.#share = Math.min(1, this.#share * 2);
  }

  /** A claim may have taken messages that nobody here knows of. @returns whether they were given back to others */
  async #isGivenUp(token: string): Promise<boolean> {
    const { events, queue } = this.#options;
    this.#unanswered.push(token);
    this.#share = Math.max(SMALLEST_SHARE, this.#share / 2);
    this.#misses++;
    if (this.#misses < MOST_UNANSWERED) return false;
    this.#misses = 0;
    events.emit('claimsUnanswered', { queue, count: MOST_UNANSWERED });
    // If this fails as well, the next claim tries again.
    await this.giveBack().catch(() => undefined);
    return true;
  }

  /** Lets a claim in whose place this one comes hold nothing any more. */
  async #end(insteadOf: string): Promise<void> {
    const { store, lease } = this.#options;
    await store.claim({ token: this.#newToken(), insteadOf, limit: 0, lease });
    this.#unanswered = this.#unanswered.filter((token) => token !== insteadOf);
  }

  #tellOf(orphans: readonly string[]): void {
    const { events, queue } = this.#options;
    if (orphans.length > 0) events.emit('orphansRemoved', { queue, count: orphans.length });
  }

  #newToken(): string {
    return `${this.#consumerId}${(this.#claims++).toString(36)}`;
  }
}
