import type { RestoreOutcome, ScannedId } from '../message-past.js';
import type { KeptIdRules } from '../message-store.js';

/** The ids that a queue keeps although their messages are gone, because they were handled. */
export class MemoryKeptIds {
  /** When the message with each id was handled, ms, oldest first. */
  readonly #times = new Map<string, number>();
  /** When the last id is too old, ms. */
  #end = 0;

  /** Keeps ids from `now` on, and drops those that are too old or too many. @returns how many were dropped before their time */
  keep(ids: readonly string[], now: number, rules: KeptIdRules): number {
    for (const id of ids) {
      this.#times.delete(id);
      this.#times.set(id, now);
    }
    this.#end = now + rules.for;
    let dropped = 0;
    for (const [id, time] of this.#times) {
      const isTooOld = time + rules.for <= now;
      if (!isTooOld && this.#times.size <= rules.max) break;
      this.#times.delete(id);
      if (!isTooOld) dropped++;
    }
    return dropped;
  }

  scan(now: number): ScannedId[] {
    const keptFor = this.#end - Math.max(0, ...this.#times.values());
    return [...this.#times].flatMap(([id, handledAt]) => {
      const until = handledAt + keptFor;
      return until > now ? [{ id, handledAt, until }] : [];
    });
  }

  restore({ id, handledAt, until }: ScannedId, now: number, rules?: KeptIdRules | null): RestoreOutcome {
    const known = this.#times.get(id);
    if (known !== undefined && known >= handledAt) return 'kept';
    const [oldest] = this.#times;
    const isFull = known === undefined && this.#times.size >= (rules?.max ?? Infinity);
    const ends = Math.min(until, handledAt + (rules?.for ?? Infinity));
    if (ends <= now || (isFull && oldest![1] >= handledAt)) return 'dropped';
    if (isFull) this.#times.delete(oldest![0]);
    const sorted = [...this.#times, [id, handledAt] as const].sort(([, one], [, other]) => one - other);
    this.#times.clear();
    for (const [each, time] of sorted) this.#times.set(each, time);
    this.#end = Math.max(this.#end, ends);
    return 'created';
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
