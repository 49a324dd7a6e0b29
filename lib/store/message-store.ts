import type { MessageBody } from '../codec/message-codec.js';
import type { MessageCounts, MessageFailure, MessageState } from '../message/message.js';

/**
 * The port: where the messages of one queue live.
 *
 * The methods are the stages of a message's way. Every instant is milliseconds since the epoch **by the store's clock**
 * (for Redis: its `TIME`), every length of time is milliseconds. Arguments are already validated.
 *
 * What all methods promise:
 * - Each call is atomic: it happens whole or not at all, and no other call is seen half-done.
 * - A call that rejects with `NOT_CONNECTED`, `LOGIN_REFUSED` or `STORE_REFUSED` has changed nothing; after `OUTCOME_UNKNOWN`
 *   it may have happened, or may still happen until its time is up, and never later. Offers, settlements, claims and everything
 *   about one id can then be repeated: the second time they find their work done.
 * - Every id is in at most one state. `contract/` in the tests states the rest, for every store.
 */
export interface MessageStore {
  /** Delayed messages by what they say; only where a layout can look them up so. */
  readonly delayedValues?: DelayedValues;

  /**
   * Takes new messages in; each falls due after its delay, or at its instant.
   *
   * Receipts come in the order of the offers; an offer sees those before it in the same call. When the queue's earliest
   * due time became earlier, the listeners of {@link watchDue} hear of it in all processes. An accepted offer survives
   * whatever the store itself survives.
   */
  offer(offers: readonly Offer[]): Promise<OfferReceipt[]>;

  /**
   * Removes a message that is still delayed. Of `cancel`, `reschedule` and `transfer` exactly one wins.
   *
   * @returns whether it was removed; false if it is not delayed (any more)
   */
  cancel(id: string): Promise<boolean>;

  /**
   * Moves the due time of a message that is still delayed, heard by {@link watchDue} if it is the new earliest.
   *
   * @returns whether it was moved; false if it is not delayed (any more)
   */
  reschedule(id: string, due: DueTime): Promise<boolean>;

  /** Looks at one message, in whatever state; null if there is none of that id. */
  find(id: string): Promise<StoredMessage | null>;

  /**
   * Moves what is due from delayed to ready, earliest first, never early; and takes back what is active on an expired
   * lease: an attempt is spent, and the message is ready again or dead. At most `limit` of each, `more` says that a
   * further call is worth it. Whenever ready messages remain, some {@link Doorbell} is rung.
   *
   * While the queue is paused nobody is rung for: {@link resume} does that.
   *
   * A crash right after leaves the moved messages ready and rung for.
   */
  transfer(request: TransferRequest): Promise<TransferReport>;

  /**
   * Takes ready messages, oldest first, under one lease: they are this claim's until it ends, and come back by
   * {@link transfer} after that. It takes `limit` of them at most, and stops at `maxBytes`. If ready messages remain,
   * another doorbell is rung. While the queue is paused it takes none and rings nobody.
   *
   * A token takes once: the answer names all that it will ever hold. A claim `insteadOf` another one ends that one, however
   * late it arrives: what it took passes to this claim within the same bounds, the rest is ready again, no attempt is
   * spent, and nothing else is taken. If it took nothing, this is a claim like any other.
   *
   * A crash right after costs the messages their lease and an attempt.
   */
  claim(request: ClaimRequest): Promise<ClaimReport>;

  /** Rings for ready messages, if there are any; while the queue is paused for none. */
  ring(): Promise<void>;

  /**
   * Lets the leases of these claims end `lease` ms from now instead. A lease belongs to all messages of a token, so a
   * call names all that its caller knows to hold. What a token holds beyond these is nobody's: it is ready again, with
   * no attempt spent.
   *
   * @returns the ids whose claim is no longer held: settled, expired and taken back, replaced or cleared
   */
  extend(claims: readonly Claim[], lease: number): Promise<string[]>;

  /**
   * Ends claims, each with its outcome. A claim that is no longer held changes nothing (the fence against late answers).
   * A message that is delayed again and is the new earliest is heard of by {@link watchDue}.
   */
  settle(settlements: readonly Settlement[]): Promise<SettleReport>;

  /**
   * Makes messages ready that are kept but are in no state, as damage from outside may leave them. Looks at a part of the
   * queue at a time; a first look at a sound queue ends at once. A queue with a long line of ready messages is left for
   * later: what is lost would stand at its end anyway.
   *
   * @param cursor - of the report before; none for a first look
   */
  repair(cursor?: string): Promise<RepairReport>;

  /** Counts the messages in each state at one instant, with the earliest due time among the delayed. */
  status(): Promise<QueueStatus>;

  /** Stops claims in all processes; offers and transfers go on. Pausing a paused queue changes nothing. */
  pause(): Promise<void>;

  /** Allows claims again and rings for what is ready. */
  resume(): Promise<void>;

  /**
   * Removes every message in every state; a paused queue stays paused. Handlers that run go on, but their outcome changes nothing any more.
   *
   * @returns how many messages were removed
   */
  clear(): Promise<number>;

  /**
   * Lists dead letters, oldest first; `cursor` is the one of the page before.
   *
   * @throws DelayQueueError `INVALID_ARGUMENT` if the cursor is not one of a page
   */
  listDead(page: { cursor: string | undefined; limit: number }): Promise<DeadPage>;

  /**
   * Makes dead letters due now, with all their attempts before them again, heard by {@link watchDue}.
   *
   * @returns how many
   */
  redrive(selection: DeadSelection): Promise<number>;

  /**
   * Removes dead letters for good.
   *
   * @returns how many
   */
  discard(selection: DeadSelection): Promise<number>;

  /** Listens for earlier due times until the returned function is called. Announcements may get lost; none is kept. */
  watchDue(listener: DueListener): () => void;

  /** A new doorbell, for one consumer. */
  openDoorbell(): Doorbell;
}

/** What every store needs to know of its queue. */
export interface StoreLimits {
  /** After so many failed attempts an expired lease makes a dead letter. */
  readonly attempts: number;
  /** More dead letters than this drop the oldest. */
  readonly maxDeadLetters: number;
  /** Offers that would make more messages than this, in all states together, are refused; null: no limit. */
  readonly maxMessages: number | null;
}

/** The error of a dead letter whose last attempt ended with its lease. */
export const LEASE_EXPIRED: MessageFailure = {
  name: 'LeaseExpired',
  message: 'The consumer did not settle the message within its lease: it crashed, stalled or lost its connection.',
};

/** When a message falls due: after a delay from the store's now, or at an instant of the store's clock. */
export type DueTime = { readonly after: number } | { readonly at: number };

/** What an offer does when its id is in use, in whatever state. */
export type OnDuplicate =
  /** The message that is there stays as it is. */
  | 'keep'
  /** The new message takes its place, whatever its state; a handler that holds the old one loses its lease. */
  | 'replace'
  /** The offer fails. */
  | 'reject';

export interface Offer {
  readonly id: string;
  readonly due: DueTime;
  readonly onDuplicate: OnDuplicate;
  readonly body: MessageBody;
}

/**
 * `created`: the id was free. `kept`, `replaced`, `rejected`: it was in use, and `onDuplicate` decided.
 * Nothing was written: `full`: the queue holds its `maxMessages`.
 */
export type OfferOutcome = 'created' | 'kept' | 'replaced' | 'rejected' | 'full';

export interface OfferReceipt {
  readonly outcome: OfferOutcome;
  /** When the message of this id falls due, be it the new or the kept one; 0 if there is none. */
  readonly dueAt: number;
}

export interface StoredMessage {
  readonly id: string;
  readonly state: MessageState;
  readonly body: Buffer;
  readonly failedAttempts: number;
  readonly dueAt: number;
  readonly offeredAt: number;
  /** When its lease ends; null unless active. */
  readonly leasedUntil: number | null;
}

export interface TransferRequest {
  /** Who asks; remembered when something is moved, for {@link TransferReport.lastMove}. */
  readonly scheduler: string;
  /** The most messages to move (1–1000), and the most expired leases to take back. */
  readonly limit: number;
}

export interface TransferReport {
  /** Messages moved from delayed to ready. */
  readonly moved: number;
  /** Messages taken back from expired leases, now ready again. */
  readonly recovered: number;
  /** Messages taken back from expired leases that had no attempt left, now dead. */
  readonly buried: number;
  /** Dead letters removed because there were more than `maxDeadLetters`, oldest first. */
  readonly dropped: number;
  /** Whether the limit was reached, so that a further call is worth it. */
  readonly more: boolean;
  /** Messages that are ready now. */
  readonly ready: number;
  /** Milliseconds (with fractions) until the earliest delayed message falls due or the earliest lease ends; null: none. */
  readonly nextIn: number | null;
  /** The same as an instant; null: none. */
  readonly nextAt: number | null;
  /** The last transfer that moved something from delayed to ready, this one included; null: none is known. */
  readonly lastMove: { readonly scheduler: string; readonly at: number } | null;
}

/** One message held by one claim. The token tells it from every earlier and later claim of the same message. */
export interface Claim {
  readonly id: string;
  readonly token: string;
}

export interface ClaimRequest {
  /** Fresh for every claim, unique across processes. */
  readonly token: string;
  /** The token of a claim whose answer got lost, and in whose place this one comes. */
  readonly insteadOf?: string;
  /** The most messages to take (0–1000); 0 gives back what the other claim took. */
  readonly limit: number;
  /** The most bytes of bodies to take, though one message at least. Default: no bound. */
  readonly maxBytes?: number;
  /** How long they are held unless the lease is extended. */
  readonly lease: number;
}

export interface ClaimReport {
  readonly messages: readonly ClaimedMessage[];
  /** Whether ready messages remain; false while paused. */
  readonly more: boolean;
  /** Ids that were ready but had no message: the store was damaged from outside. They are removed. */
  readonly orphans: readonly string[];
}

export interface ClaimedMessage {
  readonly id: string;
  readonly body: Buffer;
  readonly failedAttempts: number;
  readonly dueAt: number;
  readonly offeredAt: number;
}

export type Outcome =
  /** Handled: the message is gone, its id is free. */
  | { readonly kind: 'ack' }
  /** Failed: an attempt is spent, and it is delayed again. */
  | { readonly kind: 'retry'; readonly delay: number }
  /** Put off: delayed again, no attempt spent. */
  | { readonly kind: 'defer'; readonly delay: number }
  /**
   * Handled for now: offered anew in the same step, under the same id and with all attempts before it. `body`: what it says
   * from now on; default: what it said.
   */
  | { readonly kind: 'again'; readonly delay: number; readonly body?: MessageBody }
  /** Not handled: ready again before all others, its due time unchanged, no attempt spent. Some doorbell is rung. */
  | { readonly kind: 'release' }
  /** Failed for good: an attempt is spent, and it is a dead letter. */
  | { readonly kind: 'dead'; readonly error: string };

export interface Settlement {
  readonly claim: Claim;
  readonly outcome: Outcome;
}

export interface SettleReport {
  /** In the order of the settlements: whether the claim was still held, so that the outcome counts. */
  readonly accepted: readonly boolean[];
  /** Dead letters removed because there were more than `maxDeadLetters`, oldest first. */
  readonly dropped: number;
}

export interface RepairReport {
  /** Messages that were in no state and are ready now. */
  readonly repaired: readonly string[];
  /** To go on with; null: this look is over. */
  readonly cursor: string | null;
}

export interface QueueStatus {
  readonly counts: MessageCounts;
  /** When the earliest delayed message falls due; null: none is delayed. */
  readonly nextDue: number | null;
  readonly paused: boolean;
}

export interface StoredDeadLetter {
  readonly id: string;
  readonly body: Buffer;
  readonly failedAttempts: number;
  readonly dueAt: number;
  readonly offeredAt: number;
  readonly diedAt: number;
  /** As given in the outcome, or {@link LEASE_EXPIRED} as JSON. */
  readonly error: string;
}

export interface DeadPage {
  readonly letters: readonly StoredDeadLetter[];
  /** For the next page; null: this was the last one. */
  readonly cursor: string | null;
}

/** One dead letter by its id, or at most so many (1–1000) of the oldest. */
export type DeadSelection = { readonly id: string } | { readonly oldest: number };

export interface DueListener {
  /** The earliest due time became earlier: something falls due in `dueIn` ms, at the instant `dueAt`. */
  onEarlierDue(announcement: { dueAt: number; dueIn: number }): void;
  /** From now on announcements are heard (again); whatever was announced before may have been missed. */
  onListening(): void;
}

/**
 * Delayed messages by their bodies. Of equal ones any may be meant. The calls look through the queue: their cost grows with it.
 */
export interface DelayedValues {
  count(): Promise<number>;
  /** In the order of offers, `limit` at most; default: all. */
  list(selection?: { readonly limit?: number }): Promise<Buffer[]>;
  contains(body: MessageBody): Promise<boolean>;
  /** @returns whether there was one */
  remove(body: MessageBody): Promise<boolean>;
  /** Takes the one that was offered first, due or not; null: none is delayed. */
  takeFirst(): Promise<Buffer | null>;
}

/** What a consumer waits at while nothing is ready. One ring wakes one consumer in one process. */
export interface Doorbell {
  /**
   * Waits for a ring, for `timeout` ms, or for {@link close}.
   *
   * @returns whether it rang; a ring promises nothing (another consumer may be faster)
   */
  wait(timeout: number): Promise<boolean>;
  /** Ends a wait and frees the connection. */
  close(): Promise<void>;
}
