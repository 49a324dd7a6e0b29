import { randomBytes } from 'node:crypto';
import type { Events } from '../events/events.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { hasCode } from '../message/failure.js';
import type {
  Announcer,
  ClaimedMessage,
  ClaimRequest,
  ConsumerStore,
  TransferReport,
} from '../store/consumer-store.js';
import type { Clock, RemoteClock } from '../timing/clock.js';
import type { Lease } from './delivery.js';

/** The maximum size of the bodies in one claim, in bytes. Limited so that the answer arrives in time even over a slow connection. */
const MAX_BYTES = 1024 * 1024;

/** The number of consecutive unanswered claims after which their messages are released to other consumers. */
const MAX_UNANSWERED = 3;

/** The smallest share of the usual limits that a claim asks for. */
const MIN_SHARE = 1 / 16;

/** The minimum interval between requests for the store's time, ms. If the network is always slow, asking more often does not help. */
const ASK_INTERVAL = 60_000;

export interface TransferBesides {
  /** The scheduler that announces the transfer, as in {@link ConsumerStore.transferAndClaim}. */
  readonly announcer: Announcer | undefined;
}

const NOTHING_CLAIMED = { messages: [], more: false, now: undefined, claimAgainIn: undefined, orphans: [] } as const;

export interface Claimed {
  readonly lease: Lease;
  readonly messages: readonly ClaimedMessage[];
  /** True if ready messages remain. */
  readonly more: boolean;
  readonly answeredAt: number;
  /** When to claim again if the queue's rate is used up, on the monotonic clock; undefined if the rate is not used up. */
  readonly claimAgainAt: number | undefined;
  /** The report of the transfer made in the same call; undefined if none was requested or nothing changed. */
  readonly transfer: TransferReport | undefined;
}

/**
 * Claims messages. If the answer to a claim is lost, the next claim supersedes it, recovers its messages, and asks for half as much, in
 * case the answer was too large for the connection. After several consecutive lost answers, everything is released.
 */
export class Claimer {
  readonly #consumerId = randomBytes(9).toString('base64url');
  #claims = 0;
  /** Tokens of claims that may hold messages unknown to this process, oldest first. */
  #unanswered: string[] = [];
  #misses = 0;
  #sent: { readonly token: string; readonly sentAt: number } | undefined;
  /** The share of the usual limits that claims currently ask for. */
  #share = 1;
  readonly #storeNow = (monotonic = this.options.clock.monotonic()): number => this.options.storeClock.at(monotonic);
  /** When the store was last asked for its time, on the monotonic clock. */
  #askedAt = -Infinity;

  constructor(
    private readonly options: {
      readonly queue: string;
      readonly store: Pick<ConsumerStore, 'claim' | 'transferAndClaim' | 'wake'>;
      readonly clock: Clock;
      readonly events: Events;
      /** The length of a lease, ms. */
      readonly lease: number;
      /** How long the store waits for an answer, ms. */
      readonly answerTimeout: number;
      readonly storeClock: RemoteClock;
    },
  ) {}

  /** True if an earlier claim may hold messages unknown to this process, so that the next claim must supersede it. */
  get hasUnanswered(): boolean {
    return this.#unanswered.length > 0;
  }

  /** True if the claim with this token has been sent, but not yet answered. */
  isUnderWay(token: string): boolean {
    return this.#sent?.token === token;
  }

  /** Claims at most `limit` ready messages, together with a transfer if `besides` is given. Throws whatever the store throws. */
  async claim(limit: number, besides?: TransferBesides): Promise<Claimed> {
    let claimed = await this.#ask(limit, besides);
    const { transfer } = claimed;
    while (claimed.answeredAt >= claimed.lease.end) {
      // The lease may have ended, so other consumers may hold some of its messages. The next claim renews the lease of the rest.
      if (await this.#isGivenUp(claimed.lease.token)) {
        const problem = 'the store answers claims only after their leases have ended';
        throw new DelayQueueError('OUTCOME_UNKNOWN', `${this.options.queue}: ${problem}`);
      }
      claimed = { ...(await this.#ask(limit)), transfer };
    }
    return claimed;
  }

  /** Releases messages held by unanswered claims without spending an attempt, and wakes a consumer. Throws whatever the store throws. */
  async releaseUnanswered(): Promise<void> {
    for (const token of [...this.#unanswered]) await this.#end(token);
    await this.options.store.wake();
  }

  /**
   * Releases the messages of a pending claim if its lease may have ended. Called before timers fire: if the event loop was blocked for that
   * long, the messages must be ready before this process's transfer finds the expired lease and spends an attempt.
   */
  releaseIfLate(): void {
    const sent = this.#sent;
    if (!sent || this.options.clock.monotonic() < sent.sentAt + this.options.lease) return;
    this.#sent = undefined;
    void this.#end(sent.token).catch(() => undefined);
  }

  async #ask(limit: number, besides?: TransferBesides): Promise<Claimed> {
    const { store, clock, lease, answerTimeout, storeClock } = this.options;
    // The next claim can supersede only one of these claims, but each of them may have taken messages. So the others are ended here.
    while (this.#unanswered.length > 1) await this.#end(this.#unanswered[0]!);
    const token = this.#newToken();
    const supersedes = this.#unanswered.at(-1);
    const request: ClaimRequest = {
      token,
      ...(supersedes !== undefined && { supersedes }),
      limit: Math.max(1, Math.floor(limit * this.#share)),
      maxBytes: Math.floor(MAX_BYTES * this.#share),
      lease,
    };
    const sentAt = clock.monotonic();
    this.#sent = { token, sentAt };
    try {
      const both = besides && (await store.transferAndClaim!(request, besides.announcer));
      const report = besides ? (both?.claimed ?? NOTHING_CLAIMED) : await store.claim(request);
      const { messages, more, now, claimAgainIn, orphans } = report;
      const receivedAt = clock.monotonic();
      this.#unanswered = [];
      if (receivedAt - sentAt < lease) this.#misses = 0;
      // After such a quick answer, one twice as large would still arrive within half of the timeout.
      if (receivedAt - sentAt < Math.min(lease, answerTimeout / 4)) this.#share = Math.min(1, this.#share * 2);
      if (orphans.length > 0)
        this.options.events.emit('messages-lost', { queue: this.options.queue, count: orphans.length });
      const claimAgainAt = claimAgainIn === undefined ? undefined : receivedAt + claimAgainIn;
      if (now !== undefined) storeClock.learn(now, { sentAt, receivedAt });
      const mustAsk = messages.length > 0 && storeClock.isStale(receivedAt);
      const answeredAt = mustAsk ? await this.#askTime(receivedAt) : receivedAt;
      // The lease cannot have begun before the claim was sent.
      const times = { claimedAt: now ?? 0, receivedAt, end: sentAt + lease };
      const held = { token, ...times, held: 0, storeNow: this.#storeNow };
      return { lease: held, messages, more, answeredAt, claimAgainAt, transfer: both?.report };
    } catch (error) {
      if (!hasCode(error, 'NOT_CONNECTED', 'LOGIN_REFUSED', 'STORE_REFUSED')) await this.#isGivenUp(token);
      throw error;
    } finally {
      this.#sent = undefined;
    }
  }

  /**
   * Asks the store for its time with an empty claim, at most once per interval. Returns when the answer arrived, on the monotonic clock;
   * `sentAt` if it did not ask.
   */
  async #askTime(sentAt: number): Promise<number> {
    const { store, clock, lease, storeClock } = this.options;
    if (sentAt < this.#askedAt + ASK_INTERVAL) return sentAt;
    this.#askedAt = sentAt;
    // If this request fails, the previous estimate of the store's time stays in use.
    const report = await store.claim({ token: this.#newToken(), limit: 0, lease }).catch(() => undefined);
    const receivedAt = clock.monotonic();
    if (report) storeClock.learn(report.now, { sentAt, receivedAt });
    return receivedAt;
  }

  /** Notes a claim that may have taken messages. Releases everything and returns true after too many consecutive unanswered claims. */
  async #isGivenUp(token: string): Promise<boolean> {
    const { events, queue } = this.options;
    this.#unanswered.push(token);
    this.#share = Math.max(MIN_SHARE, this.#share / 2);
    this.#misses++;
    if (this.#misses < MAX_UNANSWERED) return false;
    this.#misses = 0;
    events.note('claims-unanswered', { queue, count: MAX_UNANSWERED });
    // If the release fails, the next claim tries again.
    await this.releaseUnanswered().catch(() => undefined);
    return true;
  }

  /** Ends a claim by superseding it with an empty one. */
  async #end(supersedes: string): Promise<void> {
    const { store, lease } = this.options;
    await store.claim({ token: this.#newToken(), supersedes, limit: 0, lease });
    this.#unanswered = this.#unanswered.filter((token) => token !== supersedes);
  }

  #newToken(): string {
    return `${this.#consumerId}${(this.#claims++).toString(36)}`;
  }
}
