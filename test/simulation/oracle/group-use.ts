import type { GroupSettings } from '../../../lib/store/admin-store.js';
import type { Rate } from '../../../lib/store/message-store.js';
import type { SimulatedServer } from '../network/server.js';
import type { Delivery } from './delivery.js';
import type { Life } from './life.js';
import { RateUse } from './rate-use.js';

/** Due times of the oracle and of the server differ by rounding, ms. */
const ROUNDING = 2;

/** The permits of a group, and its backlog. */
export class GroupUse {
  used = 0;
  /** Since when a permit is free, ms of the world. */
  roomSince = -Infinity;
  readonly running = new Set<Delivery>();
  /** Messages that nobody holds. */
  readonly waiting = new Set<Life>();
  isPaused = false;
  /** The time at which it went on after a pause, ms of the world. */
  resumedAt = -Infinity;
  permits: number;
  /** The most permits that it has ever had: who has one keeps it when there are fewer. */
  mostPermits: number;

  /** The claims that its rate counts; undefined: it has none. */
  readonly rate: RateUse | undefined;

  /**
   * @param usual - how many permits the groups of its queue have
   * @param rate - of the groups of its queue; null: they have none
   */
  constructor(
    readonly name: string,
    private readonly usual: number,
    rate: Rate | null,
  ) {
    this.permits = usual;
    this.mostPermits = usual;
    this.rate = rate ? new RateUse(rate) : undefined;
  }

  get hasSettings(): boolean {
    return this.isPaused || this.permits !== this.usual;
  }

  set({ paused, concurrency }: GroupSettings, now: number): void {
    if (paused !== undefined) {
      if (this.isPaused && !paused) this.resumedAt = now;
      this.isPaused = paused;
    }
    if (concurrency === undefined) return;
    const permits = concurrency === 'default' ? this.usual : concurrency === 'unlimited' ? Infinity : concurrency;
    if (permits > this.permits) this.roomSince = now;
    this.permits = permits;
    this.mostPermits = Math.max(this.mostPermits, permits);
  }

  /** @returns a message that must come before one that is claimed; undefined: there is none */
  overtakenBy(claimed: Life, server: SimulatedServer): Life | undefined {
    // Those that come back when the rate allows more may do so a moment after one that has just got a permit.
    if (this.rate && this.mostPermits > 1) return undefined;
    const latest = claimed.due - ROUNDING;
    const latestInWorld = server.worldTimeOf(latest);
    for (const each of this.waiting) {
      if (each.due < latest && each.inBacklogSince < latestInWorld && each !== claimed) return each;
    }
    return undefined;
  }
}
