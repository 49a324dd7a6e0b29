import type { MessageSnapshot } from '../message/message.js';
import type { RepeatProgress } from '../message/repeat-rule.js';
import type { PageQuery } from '../message/page.js';
import type { SearchPage } from '../search/search-messages.js';
import type { OfferResult } from './offer.js';

/**
 * A message that repeats, with its next times.
 * @typeParam Snapshot - the type of the message
 */
export type RepeatingMessage<Snapshot = MessageSnapshot> = Snapshot & {
  readonly repeat: RepeatProgress;
  /**
   * The next five times, in order, if nobody changes the rule; fewer if it has no more. If the message is delayed, the first is its due time,
   * and the only one if the rule needs a calendar and this process has none. Empty if the message is paused.
   */
  readonly next: readonly Date[];
};

/**
 * The messages of a queue that repeat, from `DelayQueueProducer.repeats`. Methods reject with the same errors as the producer's.
 * @typeParam Snapshot - the type of a message
 */
export interface RepeatingMessages<Snapshot = MessageSnapshot> {
  /**
   * Lists the messages that repeat. There is no index of them: a call examines at most about 4,000 messages or 4 MiB of the queue, so a page
   * may be short or empty: go on until `cursor` is null. First come the delayed ones by due time, then ready and active ones. A message that
   * moves during the walk may appear twice or not at all.
   * - `page`: `cursor` of the previous page; `limit` (1–1000, default 100)
   * @example
   * ```ts
   * const { messages } = await producer.repeats('digests').list();
   * for (const { id, repeat, next } of messages) console.log(id, repeat.isPaused ?? false, next[0]);
   * ```
   */
  list(page?: PageQuery): Promise<SearchPage<RepeatingMessage<Snapshot>>>;

  /** Finds one of them, in any state; null if no message with this id repeats. */
  find(id: string): Promise<RepeatingMessage<Snapshot> | null>;

  /**
   * Pauses one: until {@link resume}, no occurrence begins. An occurrence that is active, or waits for a retry, still ends. Times that pass
   * meanwhile are skipped, whatever `missed` says. A new rule for the message, such as that of a deploy, stays paused.
   * @returns true if the message is now paused, or was already; false if no message with this id repeats
   */
  pause(id: string): Promise<boolean>;

  /**
   * Resumes one: the next occurrence is the first time from now on.
   * @returns true if the message is now not paused; false if no message with this id repeats, or its rule has no time from now on: the
   *   message then ends
   */
  resume(id: string): Promise<boolean>;

  /**
   * Offers a message that is due now, with the payload, headers, type, expiry, attempts and backoff of an occurrence. It does not repeat, does
   * not count towards `limit`, and has an id of its own, such as `{weekdays}+2026-03-02T08:00:00.000Z`; the rule's times do not move. It may
   * run beside an occurrence, and even if the message is paused.
   * @returns null if no message with this id repeats
   */
  runNow(id: string): Promise<OfferResult | null>;

  /**
   * Ends one, even if it is paused: it no longer repeats. An occurrence that is due, active, or waits for a retry, is the last one.
   * @returns true if it was ended; false if no message with this id repeats
   */
  end(id: string): Promise<boolean>;
}
