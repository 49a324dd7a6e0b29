import type { KeptIdRules } from '../message-store.js';

/** The ids that a queue keeps although their messages are gone, because they were handled. */
export class MemoryKeptIds {
  /** When the message with each id was handled, ms, oldest first. */
  readonly #times = new Map<string, number>();

  /** Keeps ids from `now` on, and drops those that are too old or too many. @returns how many were dropped before their time */
  keep(ids: readonly string[], now: number, rules: KeptIdRules): number {
    for (const id of ids) {
      this.#times.delete(id);
      this.#times.set(id, now);
    }
    let dropped = 0;
    for (const [id, time] of this.#times) {
      const isTooOld = time + rules.for <= now;
      if (!isTooOld && this.#times.size <= rules.max) break;
      this.#times.delete(id);
      if (!isTooOld) dropped++;
    }
    return dropped;
  }

  /** Returns when the message with this id was handled, ms; undefined if the id is not kept. */
  timeOf(id: string, now: number, rules: KeptIdRules): number | undefined {
    const time = this.#times.get(id);
    return time !== undefined && time + rules.for > now ? time : undefined;
  }

  /** @returns false if the id is not kept */
  free(id: string, now: number, rules: KeptIdRules): boolean {
    const isKept = this.timeOf(id, now, rules) !== undefined;
    this.#times.delete(id);
    return isKept;
  }
}
