import type { KeptIdRules } from '../message-store.js';
import { type HandledId, MemoryPast } from './memory-past.js';

/** The ids that a queue keeps although their messages are gone, because they were handled. */
export class MemoryKeptIds extends MemoryPast<HandledId> {
  /** Keeps ids from `now` on, and drops those that are too old or too many. Returns how many were dropped before their time. */
  keep(ids: readonly string[], now: number, rules: KeptIdRules): number {
    for (const id of ids) this.add({ id, handledAt: now });
    return this.trim(now, rules);
  }

  /** Returns when the message with this id was handled, ms; undefined if the id is not kept. */
  timeOf(id: string, now: number, rules: KeptIdRules): number | undefined {
    const at = this.get(id)?.handledAt;
    return at !== undefined && at + rules.for > now ? at : undefined;
  }

  /** Returns false if the id is not kept. */
  free(id: string, now: number, rules: KeptIdRules): boolean {
    const isKept = this.timeOf(id, now, rules) !== undefined;
    this.delete(id);
    return isKept;
  }
}
