import type { Events } from '../events/events.js';
import { FailureStreak, workFailures } from '../events/failure-streak.js';
import type { CancelTimer, Clock } from '../timing/clock.js';
import { failurePause } from '../timing/failure-pause.js';
import type { MessageFlow } from '../store/message-flow.js';
import { MAX_BATCH, inBatches } from '../timing/turn-batcher.js';
import { type HeldDelivery, LeaseLost } from './delivery.js';

export interface LeaseKeeperOptions {
  readonly queue: string;
  readonly store: Pick<MessageFlow, 'extend'>;
  readonly clock: Clock;
  readonly events: Events;
  /** Length of a lease, ms. */
  readonly lease: number;
}

/** The lease of one claim. */
interface Lease {
  /** On the monotonic clock, at the earliest. */
  end: number;
  /** What of the claim is not settled yet: all of it is named when the lease is extended, or it would be another's. */
  readonly held: Set<HeldDelivery>;
}

/** What one claim took is never cut apart. */
const LIMITS = { maxItems: Infinity, maxWeight: MAX_BATCH, weigh: ({ held }: Lease) => held.size };

/**
 * Extends the leases of all claims that this consumer holds, in one call, when the first of them has a third behind it;
 * sooner again after a failure, so that a short one costs no lease. What is lost is told at once, and never later than the
 * lease ends by this clock, whether or not the store answers.
 */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  /** By the tokens of claims. */
  readonly #leases = new Map<string, Lease>();
  readonly #streak: FailureStreak;
  #timer: { readonly at: number; readonly cancel: CancelTimer } | undefined;
  #extending = false;
  #failures = 0;
  #retryAt = -Infinity;

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
    const { queue, clock, events } = options;
    this.#streak = new FailureStreak(clock, workFailures(events, 'extend', queue));
  }

  /**
   * @param token - of the claim that took the deliveries
   * @param sentAt - when it was sent, on the monotonic clock: its lease cannot have begun before
   */
  hold(token: string, deliveries: readonly HeldDelivery[], sentAt: number): void {
    const end = sentAt + this.#options.lease;
    this.#leases.set(token, { end, held: new Set(deliveries) });
    this.#wakeBy(this.#extendFrom(end));
  }

  release(held: HeldDelivery): void {
    const { token } = held.claim;
    const lease = this.#leases.get(token);
    lease?.held.delete(held);
    if (lease?.held.size === 0) this.#leases.delete(token);
  }

  /** When the lease of a claim ends, on the monotonic clock; it has ended if nothing of it is held. */
  endOf(token: string): number {
    return this.#leases.get(token)?.end ?? -Infinity;
  }

  /** Lets go of everything. */
  stop(): void {
    this.#leases.clear();
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** One timer, left alone while it fires early enough: a claim whose handlers are quick costs none. */
  #wakeBy(at: number): void {
    if (at >= (this.#timer?.at ?? Infinity)) return;
    const { clock } = this.#options;
    this.#timer?.cancel();
    this.#timer = { at, cancel: clock.schedule(() => this.#wake(), Math.max(0, at - clock.monotonic())) };
  }

  #wake(): void {
    this.#timer = undefined;
    const now = this.#options.clock.monotonic();
    for (const lease of [...this.#leases.values()]) {
      if (lease.end <= now) this.#loseAll(lease, 'it could not be extended in time');
    }
    if (!this.#extending && Math.max(this.#extendFrom(this.#earliestEnd()), this.#retryAt) <= now) void this.#extend();
    this.#wakeAgain();
  }

  #wakeAgain(): void {
    const end = this.#earliestEnd();
    const extendAt = this.#extending ? Infinity : Math.max(this.#extendFrom(end), this.#retryAt);
    this.#wakeBy(Math.min(end, extendAt));
  }

  #earliestEnd(): number {
    let earliest = Infinity;
    for (const { end } of this.#leases.values()) earliest = Math.min(earliest, end);
    return earliest;
  }

  #extendFrom(end: number): number {
    return end - (this.#options.lease * 2) / 3;
  }

  async #extend(): Promise<void> {
    const { clock, lease } = this.#options;
    this.#extending = true;
    const batches = [...inBatches([...this.#leases.values()], LIMITS)];
    const extended = await Promise.all(batches.map((batch) => this.#extendBatch(batch)));
    this.#extending = false;
    this.#failures = extended.every(Boolean) ? 0 : this.#failures + 1;
    this.#retryAt =
      this.#failures === 0 ? -Infinity : clock.monotonic() + Math.min(lease / 3, failurePause(this.#failures));
    this.#wakeAgain();
  }

  /** @returns whether the store answered */
  async #extendBatch(leases: readonly Lease[]): Promise<boolean> {
    const { store, clock, lease: length } = this.#options;
    const claims = leases.flatMap(({ held }) => [...held].map(({ claim }) => claim));
    const end = clock.monotonic() + length;
    try {
      const lost = new Set(await store.extend(claims, length));
      for (const lease of leases) {
        lease.end = end;
        for (const held of [...lease.held]) {
          if (lost.has(held.claim.id)) this.#lose(lease, held, 'it ended, or the message was replaced or cleared');
        }
      }
      this.#streak.worked();
      return true;
    } catch (error) {
      this.#streak.callFailed(error);
      return false;
    }
  }

  #loseAll(lease: Lease, why: string): void {
    for (const held of [...lease.held]) this.#lose(lease, held, why);
  }

  /** From now on it is not named any more, so the store may give it to others. */
  #lose(lease: Lease, held: HeldDelivery, why: string): void {
    lease.held.delete(held);
    if (lease.held.size === 0) this.#leases.delete(held.claim.token);
    held.delivery.abort(new LeaseLost(`The lease of message ${held.claim.id} is lost: ${why}`));
  }
}
