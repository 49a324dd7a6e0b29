import type { ConsumerStore } from './consumer-store.js';
import type { ProducerStore } from './producer-store.js';
import type { AdminStore } from './admin-store.js';

/**
 * The port that keeps the messages of one queue. Callers ask for the role they need. Every time is in milliseconds since the epoch, **by
 * the store's clock** (for Redis: its `TIME`), and every duration is in milliseconds. Arguments are already validated.
 *
 * All methods promise:
 * - Each call is atomic: it happens as a whole or not at all, and no other call sees it half-done.
 * - A call that rejects with `NOT_CONNECTED`, `LOGIN_REFUSED` or `STORE_REFUSED` has changed nothing. After `OUTCOME_UNKNOWN` it may have
 *   happened, or may still happen until its deadline, and never later. Offers, settlements, claims and calls about one id can then be
 *   repeated: the second call finds the work done.
 * - Every id is in at most one state. `test/contract/` states the remaining rules, for every store.
 */
export interface MessageStore extends ProducerStore, ConsumerStore, AdminStore {}

export interface StoreLimits {
  /** The number of failed attempts after which an expired lease makes the message a dead letter. */
  readonly attempts: number;
  /** The number of dead letters beyond which the oldest are dropped. */
  readonly maxDeadLetters: number;
  /** Offers that would bring the number of messages, in all states together, above this are refused; null: no limit. */
  readonly maxMessages: number | null;
  /** Absent or null: no limit. */
  readonly rate?: Rate | null;
  /** Absent or null: the messages of this store have no groups. */
  readonly groups?: GroupRules | null;
}

export interface GroupRules {
  /** The maximum number of them handled at once, over all processes; null: no limit. */
  readonly concurrency: number | null;
  /** `'hold'`: a message that waits for a retry keeps its permit. `'pass'`: it gives its permit up. */
  readonly onRetry: 'hold' | 'pass';
}

/** At most `max` messages are claimed in any `per` ms, over all processes and by the store's clock. */
export interface Rate {
  readonly max: number;
  readonly per: number;
}
