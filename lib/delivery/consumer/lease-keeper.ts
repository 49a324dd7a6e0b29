import type { Events } from '../../events/events.js';
import { FailureStreak, workFailures } from '../../events/failure-streak.js';
import type { CancelTimer, Clock } from '../../timing/clock.js';
import { failurePause } from '../../timing/failure-pause.js';
import type { MessageFlow } from '../../store/message-flow.js';
import { MAX_BATCH, inBatches } from '../../timing/turn-batcher.js';
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
  /** The earliest instant at which it can end, on the monotonic clock. */
  end: number;
  /** The claim's messages that are not settled yet. Each extension must name all of them: the store releases the others. */
  readonly held: Set<HeldDelivery>;
}

/** The messages of one claim are never split over several calls. */
const LIMITS = { maxItems: Infinity, maxWeight: MAX_BATCH, weigh: ({ held }: Lease) => held.size };

/**
 * Extends the leases of all claims that this consumer holds, in one call, when a third of the oldest lease has passed. After
 * a failure it retries sooner, so that a short outage costs no lease. The signal of a lost message aborts at once, and no
 * later than its lease ends by this process' clock, whether or not the store answers.
 */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  /** By the token of the claim. */
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
   * Keeps the lease of a claim from now on.
   *
   * @param token - the token of the claim that took the deliveries
   * @param sentAt - when the claim was sent, on the monotonic clock: its lease cannot have begun earlier
   */
  hold(token: string, deliveries: readonly HeldDelivery[], sentAt: number): void {
    const end = sentAt + this.#options.lease;
    this.#leases.set(token, { end, held: new Set(deliveries) });
    this.#wakeBy(this.#extendFrom(end));
  }

  release(held: HeldDelivery): void {
    const { token } = held;
    const lease = this.#leases.get(token);
    lease?.held.delete(held);
    if (lease?.held.size === 0) this.#leases.delete(token);
  }

  /** When the lease of a claim ends, on the monotonic clock; -Infinity if none of its messages is held any more. */
  endOf(token: string): number {
    return this.#leases.get(token)?.end ?? -Infinity;
  }

  /** Lets go of everything. */
  stop(): void {
    this.#leases.clear();
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** There is one timer, kept as long as it fires early enough, so claims with quick handlers need no timer of their own. */
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
    const claims = leases.flatMap(({ held }) => [...held]);
    const end = clock.monotonic() + length;
    try {
      const lost = new Set(await store.extend(claims, length));
      for (const lease of leases) {
        lease.end = end;
        for (const held of [...lease.held]) {
          if (lost.has(held.id)) this.#lose(lease, held, 'it ended, or the message was replaced or cleared');
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

  /** Extensions no longer name this message, so the store may give it to others. */
  #lose(lease: Lease, held: HeldDelivery, why: string): void {
    lease.held.delete(held);
    if (lease.held.size === 0) this.#leases.delete(held.token);
    held.delivery.abort(new LeaseLost(`The lease of message ${held.id} is lost: ${why}`));
  }
}
