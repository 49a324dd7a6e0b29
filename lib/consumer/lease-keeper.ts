import type { Events } from '../events/events.js';
import { FailureStreak, workFailures } from '../events/failure-streak.js';
import { againWatch } from '../message/again-watch.js';
import type { Claim, ConsumerStore } from '../store/consumer-store.js';
import type { CancelTimer, Clock } from '../timing/clock.js';
import { failurePause } from '../timing/pauses.js';
import { MAX_BATCH } from '../message/page.js';
import { inBatches } from '../timing/event-loop.js';
import { type Delivery, type Lease, LeaseLost, MessageAborted } from './delivery.js';

/** A claim is never split over several calls: if a call names only some of its messages, the store releases the rest. */
const LIMITS = {
  maxItems: Infinity,
  maxWeight: MAX_BATCH,
  weigh: (claim: readonly Delivery[]) => claim.length,
};

/**
 * Extends the leases of all claims in one call once a third of the oldest lease has passed, and retries soon after a failure, so that a
 * short outage costs no lease. When a message is lost, its signal is aborted at once or, if the store is silent, when its lease ends on
 * this process's clock.
 */
export class LeaseKeeper {
  /** The messages that are claimed, being handled, or not settled yet. */
  readonly held = new Set<Delivery>();
  readonly #leases = new Set<Lease>();
  readonly #streak: FailureStreak;
  #timer: { readonly at: number; readonly cancel: CancelTimer } | undefined;
  #extending = false;
  #failures = 0;
  #retryAt = -Infinity;
  #onDrained: (() => void)[] = [];

  constructor(
    private readonly options: {
      readonly queue: string;
      readonly store: Pick<ConsumerStore, 'extend' | 'catchUp'>;
      readonly clock: Clock;
      readonly events: Events;
      /** The length of a lease, ms. */
      readonly lease: number;
    },
  ) {
    const { queue, clock, events } = options;
    againWatch.hold(this.held);
    this.#streak = new FailureStreak(clock, workFailures(events, 'extend', queue));
  }

  /** True if a message with this id is held. A linear search, so only for rare cases. */
  holds(id: string): boolean {
    for (const delivery of this.held) if (delivery.id === id) return true;
    return false;
  }

  /** Resolves when no message is held. */
  drained(): Promise<void> {
    return this.held.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#onDrained.push(resolve));
  }

  hold(lease: Lease, deliveries: readonly Delivery[]): void {
    for (const delivery of deliveries) this.held.add(delivery);
    lease.held = deliveries.length;
    this.#leases.add(lease);
    this.#wakeBy(this.#extendFrom(lease.end));
  }

  /** Stops tracking a message that is done with, so that its lease is no longer extended on its account. */
  letGo(delivery: Delivery): void {
    this.held.delete(delivery);
    if (!delivery.isLost) this.#leave(delivery.lease);
    if (this.held.size === 0) for (const resolve of this.#onDrained.splice(0)) resolve();
  }

  /** Aborts the signal of a message that is gone, if the message is held. A linear search, because this is rare. */
  abort({ id, token }: Claim): void {
    for (const delivery of this.held) {
      if (delivery.id !== id || delivery.token !== token || delivery.isLost) continue;
      const { queue, type, attempt } = delivery;
      this.#lose(delivery, new MessageAborted(`Message ${id} was aborted`));
      this.options.events.emit('aborted', { queue, id, type, attempt });
    }
  }

  abortAll(reason: Error): void {
    for (const delivery of this.held) delivery.abort(reason);
  }

  /** Stops extending leases, so all of them will end. */
  stop(): void {
    this.#leases.clear();
    this.#timer?.cancel();
    this.#timer = undefined;
    againWatch.letGo(this.held);
    if (this.held.size > 0) againWatch.stop();
  }

  #leave(lease: Lease): void {
    if (--lease.held === 0) this.#leases.delete(lease);
  }

  /** Makes sure that a timer fires by `at`. Keeps the current timer if it does, so that claims with quick handlers need no extra timer. */
  #wakeBy(at: number): void {
    if (at >= (this.#timer?.at ?? Infinity)) return;
    const { clock } = this.options;
    this.#timer?.cancel();
    this.#timer = { at, cancel: clock.schedule(() => this.#wake(), Math.max(0, at - clock.monotonic())) };
  }

  #wake(): void {
    this.#timer = undefined;
    const now = this.options.clock.monotonic();
    if (this.#earliestEnd() <= now) {
      for (const delivery of this.held) {
        if (delivery.lease.end <= now) this.#loseLease(delivery, 'it could not be extended in time');
      }
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
    for (const { end } of this.#leases) earliest = Math.min(earliest, end);
    return earliest;
  }

  #extendFrom(end: number): number {
    return end - (this.options.lease * 2) / 3;
  }

  async #extend(): Promise<void> {
    const { clock, lease } = this.options;
    this.#extending = true;
    const batches = [...inBatches(this.#claims(), LIMITS)];
    const extended = await Promise.all(batches.map((batch) => this.#extendBatch(batch.flat())));
    this.#extending = false;
    this.#failures = extended.every(Boolean) ? 0 : this.#failures + 1;
    this.#retryAt =
      this.#failures === 0 ? -Infinity : clock.monotonic() + Math.min(lease / 3, failurePause(this.#failures));
    this.#wakeAgain();
  }

  /** Returns the messages that are held and not lost, by claim. */
  #claims(): Delivery[][] {
    const claims = new Map<Lease, Delivery[]>([...this.#leases].map((lease) => [lease, []]));
    for (const delivery of this.held) if (!delivery.isLost) claims.get(delivery.lease)?.push(delivery);
    return [...claims.values()];
  }

  /** @returns true if the store answered */
  async #extendBatch(deliveries: readonly Delivery[]): Promise<boolean> {
    const { store, clock, lease } = this.options;
    const end = clock.monotonic() + lease;
    try {
      const lost = await store.extend(deliveries, lease);
      for (const delivery of deliveries) delivery.lease.end = end;
      if (lost.length > 0) void this.#loseAll(lost);
      this.#streak.worked();
      return true;
    } catch (error) {
      this.#streak.callFailed(error);
      return false;
    }
  }

  /** Aborts the signals of messages whose claims have ended. Waits for announcements first, because an abort is a more exact reason. */
  async #loseAll(deliveries: readonly Delivery[]): Promise<void> {
    await this.options.store.catchUp?.();
    for (const delivery of deliveries) {
      if (this.held.has(delivery))
        this.#loseLease(delivery, 'it ended, or the message was aborted, replaced or cleared');
    }
  }

  #loseLease(delivery: Delivery, why: string): void {
    this.#lose(delivery, new LeaseLost(`The lease of message ${delivery.id} is lost: ${why}`));
  }

  /** Gives up a message. Extensions no longer name it, so the store may give it to another consumer. */
  #lose(delivery: Delivery, reason: LeaseLost | MessageAborted): void {
    if (delivery.isLost) return;
    this.#leave(delivery.lease);
    delivery.lose(reason);
  }
}
