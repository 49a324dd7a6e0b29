import type { SimulatedProcess } from '../world/simulated-process.js';
import { type QueueTraits, type Release, scaled } from '../applications/scenario.js';
import { Holding } from './delivery.js';

/** A process, as the oracle sees it. */
export class Member {
  /** Since when its handlers run, ms of the world. */
  servesSince = Infinity;
  isStopping = false;
  /** The time at which it has recovered from its last trouble, ms of the world; this may lie ahead. */
  #wellFrom = -Infinity;
  /** The time from which it hears what is announced, ms of the world; this may lie ahead. */
  #hearsFrom = -Infinity;
  readonly #holdings = new Map<QueueTraits, Holding>();

  constructor(
    readonly process: SimulatedProcess,
    readonly release: Release,
  ) {}

  /** Something goes wrong with it, or with its calls alone, and is over by then. */
  troubledUntil(at: number, what: 'all' | 'calls'): void {
    this.#wellFrom = Math.max(this.#wellFrom, at);
    if (what === 'all') this.#hearsFrom = Math.max(this.#hearsFrom, at);
  }

  /** Since when it has heard all announcements; Infinity: it may miss some. */
  hearsSince(now: number): number {
    if (this.isStopping || this.process.isDead || this.#hearsFrom > now) return Infinity;
    return Math.max(this.servesSince, this.#hearsFrom);
  }

  /** Since when nothing has been wrong, and its handlers have run; Infinity: something is. */
  wellSince(now: number): number {
    if (this.isStopping || this.process.isDead || this.#wellFrom > now) return Infinity;
    return Math.max(this.servesSince, this.#wellFrom);
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
}
