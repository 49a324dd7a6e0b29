import type { DelayQueueError } from '../message/delay-queue-errors.js';
import type { MessageBody } from '../message/codec/message-codec.js';
import type { DueTime } from '../message/due-time.js';

export type { DueTime };

/** The port's first role: takes messages in, and changes them while they are delayed. */
export interface ProducerStore {
  /**
   * Takes in new messages. Each falls due after its delay, or at its instant.
   *
   * Receipts come in the order of the offers, and each offer sees the ones before it in the same call. If the queue's
   * earliest due time becomes earlier, the listeners of {@link ConsumerStore.watchDue} in all processes are told. An accepted
   * offer survives whatever the store itself survives.
   */
  offer(offers: readonly Offer[]): Promise<OfferReceipt[]>;

  /**
   * Removes a message that is still delayed. Exactly one of `cancel`, `reschedule` and `transfer` wins. A message that waits to follow
   * another is removed as well, whatever the state of that one. A message that repeats and is ready or active does not come again.
   *
   * @param notAfter - an instant of the monotonic clock after which it fails, and changes nothing, however late it arrives; a store that
   *   only this process has may ignore it
   * @returns whether something was removed or ended; false if it is not delayed, or no longer, and neither repeats nor is followed
   */
  cancel(id: string, notAfter?: number): Promise<boolean>;

  /**
   * Moves the due time of a message that is still delayed. {@link ConsumerStore.watchDue} tells of a new earliest one.
   *
   * @param notAfter - as in {@link cancel}
   * @returns whether it was moved; false if it is not delayed, or no longer
   */
  reschedule(id: string, due: DueTime, notAfter?: number): Promise<boolean>;

  /**
   * Moves the due time of a message that is still delayed, and gives it another body, provided that it has the one that the caller
   * has read. Failed attempts and the time of the offer stay. {@link ConsumerStore.watchDue} tells of a new earliest due time. Left
   * out where the layout cannot do it.
   */
  change?(id: string, change: Change): Promise<ChangeOutcome>;
}

export interface Change {
  readonly due: DueTime;
  /** The body that the caller has read. */
  readonly from: Buffer;
  readonly to: MessageBody;
  /** As in {@link ProducerStore.cancel}. */
  readonly notAfter?: number | undefined;
}

/**
 * `stale`: it is delayed, but has another body. `absent`: it is not delayed, or no longer. `oversized`: the server does not accept
 * so long a body. Only `changed` has written anything.
 */
export type ChangeOutcome = 'changed' | 'stale' | 'absent' | 'oversized';

/** What an offer does when its id is in use, in whatever state. */
export type OnDuplicate =
  /** The existing message stays as it is. */
  | 'keep'
  /** The new message takes its place, whatever its state. A handler that holds the old one loses its lease. */
  | 'replace'
  /** The offer fails. */
  | 'reject'
  /**
   * If the existing message is active, the new one waits beside it, in place of one that waits already, until that one is settled for
   * good. If it is in another state, it stays as it is. Not in every layout.
   */
  | 'follow';

export interface Offer {
  readonly id: string;
  readonly due: DueTime;
  /**
   * `repeat` is for messages that repeat, due at an instant: whatever state the existing one is in, its next occurrences are those of the
   * new one. If they are the same, it is kept. If it is delayed for its first attempt, or dead, it is replaced. If it is due already, it
   * gets the new body (`kept`); if it is active, the new one follows it. Where that would replace an occurrence, but the instant has
   * passed, the offer is `rejected`: that occurrence may have been handled. Not in every layout.
   */
  readonly onDuplicate: OnDuplicate | 'repeat';
  /**
   * Only with `replace`: no due time is later than so many ms after the first offer of the chain. A chain is the offers of this
   * kind of which each replaces a message that is still delayed; the message has the `offeredAt` of the first.
   */
  readonly maxWait?: number;
  readonly body: MessageBody;
  /** Its id was generated for it, so no message can have it yet. */
  readonly isNew?: boolean;
  /** Its group, which its body names, too: a script that stores many messages does not search their bodies. */
  readonly group?: string;
  /** As in {@link ProducerStore.cancel}. All offers of a call have the same, or none. */
  readonly notAfter?: number;
}

/**
 * `created`: the id was free. `kept`, `replaced`, `rejected`, `followed`: it was in use, and `onDuplicate` decided.
 * `full`: nothing was written, because the queue holds its `maxMessages`. `oversized`: nothing was written, because the server
 * does not accept so long a body.
 */
export type OfferOutcome = 'created' | 'kept' | 'replaced' | 'rejected' | 'followed' | 'full' | 'oversized';

export interface OfferReceipt {
  readonly outcome: OfferOutcome;
  /** When the message of this id falls due, be it the new one or the one that has the id already; 0 if there is none. */
  readonly dueAt: number;
  /** That the message is not known to be copied, as `acknowledge` asks; `NOT_REPLICATED`. */
  readonly notCopied?: DelayQueueError | undefined;
}
