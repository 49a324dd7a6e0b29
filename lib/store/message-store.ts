import type { ConsumerStore } from './consumer-store.js';
import type { ProducerStore } from './producer-store.js';
import type { AdminStore } from './admin-store.js';

/**
 * The port that keeps one queue's messages. Callers ask for the role they need. Times are in milliseconds since the epoch, **by the store's
 * clock** (for Redis: its `TIME`), and durations in milliseconds. Arguments are already validated.
 *
 * All methods promise:
 * - Each call is atomic: it happens completely or not at all, and no other call sees it half-done.
 * - A call that rejects with `NOT_CONNECTED`, `LOGIN_REFUSED` or `STORE_REFUSED` has changed nothing. After `OUTCOME_UNKNOWN`, it may have
 *   happened, or may still happen until its deadline, but never later. Offers, settlements, claims and calls about one id can then be
 *   repeated: the second call finds the work done.
 * - Every id is in at most one state. `test/contract/` defines the remaining rules for all stores.
 */
export interface MessageStore extends ProducerStore, ConsumerStore, AdminStore {}

/** May change while the store is in use. */
export interface StoreLimits {
  /** The number of failed attempts after which an expired lease makes a message a dead letter. */
  readonly attempts: number;
  /** The maximum number of dead letters. Above it, the oldest are dropped. */
  readonly maxDeadLetters: number;
  /** The maximum number of messages in all states together. Offers beyond it are refused; null: no limit. */
  readonly maxMessages: number | null;
  /** Absent or null: no limit. */
  readonly rate?: Rate | null;
  /** The maximum number of active messages, with and without groups together. Absent or null: no limit. */
  readonly globalConcurrency?: number | null;
  /** Absent or null: messages of this store have no groups. */
  readonly groups?: GroupRules | null;
  /** If the limits are not known yet: resolves once they are. */
  readonly known?: Promise<void> | undefined;
  /** Reads the limits again. Absent if they cannot change. */
  refresh?(): void;
  /** Calls a function whenever the limits have changed, until the returned function is called. Absent if they cannot change. */
  watch?(onChange: () => void): () => void;
  /** Absent or null: handled messages are not remembered. */
  readonly history?: HistoryRules | null;
  /** Absent or null: ids are free once their messages are gone. */
  readonly idsFor?: KeptIdRules | null;
}

export interface KeptIdRules {
  /** How long an id is kept after its message was handled, ms. */
  readonly for: number;
  /** The maximum number of kept ids. */
  readonly max: number;
}

export interface HistoryRules {
  /** How long an entry is kept, ms. */
  readonly for: number;
  /** The maximum number of entries. */
  readonly max: number;
  /** True if the records of the messages are kept, too. */
  readonly payloads: boolean;
}

export interface GroupRules {
  /** The maximum number of a group's messages handled at once, across all processes; null: no limit. */
  readonly concurrency: number | null;
  /** `'hold'`: a message keeps its permit while it waits for a retry. `'pass'`: it gives up its permit. */
  readonly onRetry: 'hold' | 'pass';
  /** How many of a group's messages may be claimed within a length of time. Null, or absent: no limit. */
  readonly rate?: Rate | null;
}

/** Allows at most `max` messages to be claimed in any `per` ms, across all processes and by the store's clock. */
export interface Rate {
  readonly max: number;
  readonly per: number;
}
