import type { SimulatedProcess } from '../world/simulated-process.js';
import { type QueueTraits, type Release, scaled } from '../applications/scenario.js';
import { Holding } from './delivery.js';

/** What a trouble may keep a process from: claiming in time, keeping its leases, and hearing what is announced. */
export type Concern = 'claims' | 'leases' | 'announcements';

export const ALL_CONCERNS: readonly Concern[] = ['claims', 'leases', 'announcements'];

/** A process, as the oracle sees it. */
export class Member {
  /** Since when its handlers run, ms of the world. */
  servesSince = Infinity;
  isStopping = false;
  /** The time at which it has recovered from its last trouble, ms of the world; this may lie ahead. */
  #wellFrom = -Infinity;
  /** The same for each concern. */
  readonly #unhinderedFrom: Record<Concern, number> = {
    claims: -Infinity,
    leases: -Infinity,
    announcements: -Infinity,
  };
  readonly #holdings = new Map<QueueTraits, Holding>();

  constructor(
    readonly process: SimulatedProcess,
    readonly release: Release,
  ) {}

  /** Something goes wrong, and is over by then. */
  troubledUntil(at: number, concerns: readonly Concern[]): void {
    this.#wellFrom = Math.max(this.#wellFrom, at);
    for (const concern of concerns) this.#unhinderedFrom[concern] = Math.max(this.#unhinderedFrom[concern], at);
  }

  /** Since when no trouble has concerned this, and its handlers have run; Infinity: one does. */
  unhinderedSince(concern: Concern, now: number): number {
    return this.#since(this.#unhinderedFrom[concern], now);
  }

  /** The time at which the latest trouble that concerns this ends, or has ended. */
  unhinderedFrom(concern: Concern): number {
    return this.#unhinderedFrom[concern];
  }

  /** Since when nothing has been wrong, and its handlers have run; Infinity: something is. */
  wellSince(now: number): number {
    return this.#since(this.#wellFrom, now);
  }

  /** The time at which the latest trouble ends, or has ended. */
  get wellFrom(): number {
    return this.#wellFrom;
  }

  get hasRunningHandlers(): boolean {
    return [...this.#holdings.values()].some(({ running }) => running > 0);
  }

  holdingOf(traits: QueueTraits): Holding {
    let holding = this.#holdings.get(traits);
    if (!holding) {
      const concurrency = scaled(traits.concurrency, this.release);
      const capacity = concurrency * (traits.capacity / traits.concurrency);
      this.#holdings.set(traits, (holding = new Holding(this, capacity, concurrency)));
    }
    return holding;
  }

  #since(at: number, now: number): number {
    return this.isStopping || this.process.isDead || at > now ? Infinity : Math.max(this.servesSince, at);
  }
}
