import type { Logger } from '@nestjs/common';
import type { CancelTimer, Clock } from '../clock.js';
import type { MessageStore } from '../store/message-store.js';
import { failurePause } from '../failure-pause.js';
import { MAX_BATCH, inBatches } from '../turn-batcher.js';
import { type HeldDelivery, LeaseLost } from './delivery.js';
import { showFailure } from './failure.js';

export interface LeaseKeeperOptions {
  readonly queue: string;
  readonly store: Pick<MessageStore, 'extend'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Length of a lease, ms. */
  readonly lease: number;
}

/** A lease is that of a whole claim: what one claim took is never cut apart. */
const LIMITS = { maxItems: Infinity, maxWeight: MAX_BATCH, weigh: (claim: readonly HeldDelivery[]) => claim.length };

/**
 * Extends the leases of all claims that this consumer holds, in one call, at every third of the lease; sooner again after a
 * failure, so that a short one costs no lease.
 */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  /** When each lease ends on the monotonic clock, at the earliest. */
  readonly #ends = new Map<HeldDelivery, number>();
  #cancelTimer: CancelTimer | undefined;
  #failures = 0;

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
  }

  /** @param claimedAt - when the claim was sent, on the monotonic clock: its lease cannot have begun before */
  hold(held: HeldDelivery, claimedAt: number): void {
    this.#ends.set(held, claimedAt + this.#options.lease);
    this.#cancelTimer ??= this.#schedule();
  }

  release(held: HeldDelivery): void {
    this.#ends.delete(held);
    if (this.#ends.size > 0) return;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  /** Extends all leases now; aborts the deliveries whose lease is lost, or can no longer be known to hold. */
  async runOnce(): Promise<void> {
    const { store, clock, lease, logger, queue } = this.#options;
    const sentAt = clock.monotonic();
    let failed = false;
    for (const claims of inBatches(this.#heldByClaim(), LIMITS)) {
      const batch = claims.flat();
      try {
        const lost = new Set(
          await store.extend(
            batch.map(({ claim }) => claim),
            lease,
          ),
        );
        for (const held of batch) {
          if (!this.#ends.has(held)) continue;
          if (lost.has(held.claim.id)) this.#lose(held, 'it ended, or the message was replaced or cleared');
          else this.#ends.set(held, sentAt + lease);
        }
      } catch (error) {
        failed = true;
        logger.warn(`${queue}: ${batch.length} leases could not be extended: ${showFailure(error)}`);
      }
    }
    this.#failures = failed ? this.#failures + 1 : 0;
    const now = clock.monotonic();
    for (const [held, end] of this.#ends) {
      if (end <= now) this.#lose(held, 'it could not be extended in time');
    }
  }

  #heldByClaim(): HeldDelivery[][] {
    const claims = new Map<string, HeldDelivery[]>();
    for (const held of this.#ends.keys()) {
      const { token } = held.claim;
      const claim = claims.get(token);
      if (claim) claim.push(held);
      else claims.set(token, [held]);
    }
    return [...claims.values()];
  }

  #lose(held: HeldDelivery, why: string): void {
    this.release(held);
    held.delivery.abort(new LeaseLost(`The lease of message ${held.claim.id} is lost: ${why}`));
  }

  #schedule(): CancelTimer {
    const interval = this.#options.lease / 3;
    return this.#options.clock.schedule(
      () => {
        void this.runOnce().finally(() => {
          // A message held meanwhile may have started a timer of its own.
          this.#cancelTimer?.();
          this.#cancelTimer = this.#ends.size > 0 ? this.#schedule() : undefined;
        });
      },
      this.#failures === 0 ? interval : Math.min(interval, failurePause(this.#failures)),
    );
  }
}
