import type { SimulatedServer } from '../network/server.js';
import type { Delivery } from './delivery.js';
import type { Life } from './life.js';

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

  constructor(
    readonly name: string,
    readonly permits: number,
  ) {}

  /** @returns a message that must come before one that is claimed; undefined: there is none */
  overtakenBy(claimed: Life, server: SimulatedServer): Life | undefined {
    const latest = claimed.due - ROUNDING;
    const latestInWorld = server.worldTimeOf(latest);
    for (const each of this.waiting) {
      if (each.due < latest && each.inBacklogSince < latestInWorld && each !== claimed) return each;
    }
    return undefined;
  }
}
