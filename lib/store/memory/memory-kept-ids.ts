import type { RestoreOutcome, ScannedId } from '../message-past.js';
import type { KeptIdRules } from '../message-store.js';
import { MemoryPast } from './memory-past.js';

/** The ids that a queue keeps although their messages are gone, because they were handled. */
export class MemoryKeptIds {
  readonly #past = new MemoryPast();

  /** Keeps ids from `now` on, and drops those that are too old or too many. Returns how many were dropped before their time. */
  keep(ids: readonly string[], now: number, rules: KeptIdRules): number {
    for (const id of ids) this.#past.add({ id, at: now });
    return this.#past.trim(now, rules);
  }

  scan(now: number): ScannedId[] {
    return this.#past.scan(now).map(({ item: { id, at }, until }) => ({ id, handledAt: at, until }));
  }

  restore({ id, handledAt, until }: ScannedId, now: number, rules?: KeptIdRules | null): RestoreOutcome {
    return this.#past.restore({ id, at: handledAt }, { until, now, rules });
  }

  /** Returns when the message with this id was handled, ms; undefined if the id is not kept. */
  timeOf(id: string, now: number, rules: KeptIdRules): number | undefined {
    const at = this.#past.get(id)?.at;
    return at !== undefined && at + rules.for > now ? at : undefined;
  }

  /** Returns false if the id is not kept. */
  free(id: string, now: number, rules: KeptIdRules): boolean {
    const isKept = this.timeOf(id, now, rules) !== undefined;
    this.#past.delete(id);
    return isKept;
  }
}
