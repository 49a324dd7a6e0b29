import type { SimulatedProcess } from '../world/simulated-process.js';

/** What one process holds of one queue, as far as the server knows. */
export interface Holding {
  /** Id of each message, and the token of its latest claim. */
  readonly held: Map<string, string>;
  /** Since when it has room for more, ms of the world; Infinity: it has none. */
  roomSince: number;
}

/** A process, as the oracle sees it. */
export class Member {
  /** Since when its handlers run, ms of the world. */
  servesSince = Infinity;
  isStopping = false;
  /** When it has got over what last went wrong, ms of the world; this may lie ahead. */
  #wellFrom = -Infinity;
  readonly #holdings = new Map<string, Holding>();

  constructor(readonly process: SimulatedProcess) {}

  /** Something goes wrong, and is over by then. */
  troubledUntil(at: number): void {
    this.#wellFrom = Math.max(this.#wellFrom, at);
  }

  /** Since when nothing has been wrong, and its handlers have run; Infinity: something is. */
  wellSince(now: number): number {
    if (this.isStopping || this.process.isDead || this.#wellFrom > now) return Infinity;
    return Math.max(this.servesSince, this.#wellFrom);
  }

  /** When the latest trouble ends, or has ended. */
  get wellFrom(): number {
    return this.#wellFrom;
  }

  holdingOf(queue: string): Holding {
    let holding = this.#holdings.get(queue);
    if (!holding) this.#holdings.set(queue, (holding = { held: new Map(), roomSince: -Infinity }));
    return holding;
  }
}
