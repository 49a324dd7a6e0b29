import type { DelayQueueError } from '../message/delay-queue-errors.js';
import type { MessageBody } from '../message/codec/message-codec.js';
import type { DueTime } from '../message/duration.js';
import type { MessagePast } from './message-past.js';

export type { DueTime };

/** The port's first role: accepts messages, and changes them while they are delayed. */
export interface ProducerStore {
  /**
   * Stores new messages. Receipts come in the order of the offers, and each offer sees those before it in the same call. If the queue's
   * earliest due time becomes earlier, listeners of {@link ConsumerStore.watchDue} in all processes are notified. An accepted offer
   * survives whatever the store survives.
   *
   * An offer whose id is kept (`StoreLimits.idsFor`) is ignored, whatever its `onDuplicate`, unless it restores a message (`past`).
   */
  offer(offers: readonly Offer[]): Promise<OfferReceipt[]>;

  /**
   * Removes a delayed message, and a follower whatever the state of the message that it follows. A repeating message that is ready or
   * active does not come again. Exactly one of `cancel`, `reschedule` and `transfer` wins.
   * @param notAfter - the time, on the monotonic clock, after which the call fails and changes nothing, however late it arrives; a store
   *   within this process may ignore it
   * @returns true if something was removed or ended; false if there is no delayed message, no follower and no repetition
   */
  cancel(id: string, notAfter?: number): Promise<boolean>;

  /**
   * Changes the due time of a delayed message. Returns false if the message is not, or is no longer, delayed. {@link
   * ConsumerStore.watchDue} announces a new earliest due time. `notAfter` is as in {@link cancel}.
   */
  reschedule(id: string, due: DueTime, notAfter?: number): Promise<boolean>;

  /**
   * Changes a delayed message's due time and replaces its body, if the body is still the one that the caller has read. Failed attempts and
   * the time of the offer stay. {@link ConsumerStore.watchDue} announces a new earliest due time. Absent if the layout cannot do this.
   */
  change?(id: string, change: Change): Promise<ChangeOutcome>;

  /**
   * Pauses or resumes a message that repeats. While it is paused, no occurrence begins. One that is active, or waits for a retry, still
   * ends, and its end does not resume the message; neither does an offer with `repeat`. Absent if messages of the layout cannot repeat.
   */
  pauseRepeat?(id: string, pause: RepeatPause): Promise<RepeatPauseOutcome>;

  /**
   * Frees an id that is kept because its message was handled (`StoreLimits.idsFor`). Returns false if the id is not kept. Absent if the store
   * keeps no ids.
   */
  freeId?(id: string): Promise<boolean>;
}

export interface RepeatPause {
  /** How the message goes on; undefined: pause it. */
  readonly resume?: { readonly at: number; readonly from: Buffer } | undefined;
}

/**
 * `kept`: it was paused already, or was not paused. `stale`: it has another body than the one with whose rule the caller has computed `at`.
 * `absent`: no message with this id repeats. Only `changed` means that something was written.
 */
export type RepeatPauseOutcome = 'changed' | 'kept' | 'stale' | 'absent';

export interface Change {
  readonly due: DueTime;
  readonly from: Buffer;
  readonly to: MessageBody;
  /** As in {@link ProducerStore.cancel}. */
  readonly notAfter?: number | undefined;
}

/**
 * `stale`: the message is delayed, but has another body. `absent`: the message is not, or is no longer, delayed. `oversized`: the server
 * does not accept a body of this length. Only `changed` means that something was written.
 */
export type ChangeOutcome = 'changed' | 'stale' | 'absent' | 'oversized';

/** What an offer does if its id is in use, in any state. */
export type OnDuplicate =
  | 'keep'
  /** Replaces the existing message in any state. A handler that holds the old message loses its lease. */
  | 'replace'
  | 'reject'
  /**
   * If the existing message is active, the new one waits until that one is settled for good, and replaces any earlier follower. In all
   * other states, the existing message stays unchanged. Not available in every layout.
   */
  | 'follow';

export interface Offer {
  readonly id: string;
  readonly due: DueTime;
  /**
   * `repeat` is for repeating messages that fall due at a given time. Whatever the existing message's state, its next occurrences become
   * those of the new one. If both have the same, the existing message is kept. It is replaced if it is dead, or delayed for its first
   * attempt. If it is due or being retried, it gets the new body (`kept`). If it is active, the new one follows it. A paused message stays
   * paused. If the offer would replace an occurrence whose time has passed, it is `rejected`, because that occurrence may have been handled.
   * Not in every layout.
   */
  readonly onDuplicate: OnDuplicate | 'repeat';
  /**
   * Only with `replace`: the latest due time, in ms after the first offer of the chain. A chain consists of such offers, each replacing a
   * message that is still delayed. The message has the `offeredAt` of the chain's first offer.
   */
  readonly maxWait?: number;
  readonly body: MessageBody;
  /** True if the id was generated for the offer, so that no message can have it yet. */
  readonly isNew?: boolean;
  /** The group. The body names it, too, but a script that stores many messages should not have to search their bodies. */
  readonly group?: string;
  /** As in {@link ProducerStore.cancel}. All offers in a call have the same value, or all have none. */
  readonly notAfter?: number;
  /**
   * Only for stores that can {@link AdminStore.scan}: the message was in another store, and is stored with all that was known of it there.
   * Its due time is an instant, and `onDuplicate` is neither `follow` nor `repeat`. All offers in a call have it, or none.
   */
  readonly past?: MessagePast;
}

/**
 * `created`: the id was free. `kept`, `replaced`, `rejected`, `followed`: the id was in use, and `onDuplicate` decided. `handled`:
 * nothing was written, because the id is kept. `full`, `oversized`: nothing was written, because the queue holds its `maxMessages`, or
 * because the server does not accept such a long body.
 */
export type OfferOutcome = 'created' | 'kept' | 'replaced' | 'rejected' | 'followed' | 'handled' | 'full' | 'oversized';

export interface OfferReceipt {
  readonly outcome: OfferOutcome;
  /** The due time of the new or existing message with this id; if that was `handled`, the time of that; 0 if there is none. */
  readonly dueAt: number;
  /** `NOT_REPLICATED` if the message is not known to have been replicated as `acknowledge` requires. */
  readonly notCopied?: DelayQueueError | undefined;
}
