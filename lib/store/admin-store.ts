import type { MessageCounts, MessageState } from '../message/message.js';
import type { ClaimedMessage } from './consumer-store.js';

/** The port's third role: inspects a queue or one of its messages, and keeps the queue in order. */
export interface AdminStore {
  /** Finds a message in any state; null if no message has this id. */
  find(id: string): Promise<StoredMessage | null>;

  /** Counts the messages in each state at one instant. Also returns the earliest due times among delayed and among ready messages. */
  status(): Promise<QueueStatus>;

  /**
   * Counts the messages of each type in each state, page by page, until a page has no cursor. Types are read from bodies of the native
   * codec. Layouts with other bodies have no types.
   *
   * A page shows one instant. Several pages are exact together while no message moves. A message that keeps its place in its state is
   * counted exactly once, whatever happens to others. A message that moves is counted at its old place, its new one, both or neither, but
   * it is not missed if it only moves forward: from delayed to ready, active and dead.
   * @param cursor - of the previous page; none for the first
   */
  countTypes(cursor?: string): Promise<TypeCountPage>;

  /** Stops claims in all processes. Offers and transfers continue. Pausing a paused queue changes nothing. */
  pause(): Promise<void>;

  /** Allows claims again, and wakes a consumer if messages are ready. */
  resume(): Promise<void>;

  /**
   * Removes every message in every state. A paused queue stays paused. Running handlers continue, but their outcomes no longer change
   * anything. Claimed messages still count towards the rate ({@link ConsumerStore.claim}).
   * @returns the number of messages removed
   */
  clear(): Promise<number>;

  /**
   * Lists messages of one state, page by page, until a page has no cursor. Delayed messages are sorted by due time, ready ones by the order
   * of claims, active ones by their claims' tokens and by id, dead ones by time of death. Equal times are ordered by id.
   *
   * A page shows one instant. A message that keeps its place in its state is listed exactly once, whatever happens to others, including the
   * one at the cursor. A message that moves within its state is listed at its old place, its new one, both or neither. A page is limited in
   * bytes and in number, so it may have a cursor but fewer messages than `limit`. It has at least one unless none are left.
   * @throws DelayQueueError `INVALID_ARGUMENT` if the cursor is not from a page of this state
   */
  list(request: PageRequest): Promise<StoredPage>;

  /**
   * Lists a group's messages, with their states at one instant, in steps through the messages of all groups. A message that exists
   * throughout is listed at least once. Absent if messages have no groups.
   */
  listGroup?(request: GroupPageRequest): Promise<GroupPage>;

  /**
   * Makes dead letters due now, with all their attempts. {@link ConsumerStore.watchDue} announces that.
   * @param options - `unwrap`: removes from a body the time at which its message first fell due (`body-forms.ts`), because the message
   *   falls due again. Default: bodies stay as they are
   * @returns the number of messages
   */
  redrive(selection: DeadSelection, options?: RedriveOptions): Promise<number>;

  /** Removes dead letters for good. @returns the number of messages */
  discard(selection: DeadSelection): Promise<number>;

  /**
   * Gives orphaned messages, which damage from outside may leave, a state: delayed until their due times, or ready if those have passed.
   * Each call examines a part of the queue. If the queue is undamaged, the first call ends the search. A queue with very many ready
   * messages is left for later, because due orphans would queue behind all of them.
   *
   * Also offers followers of messages that are gone or dead, which a process of an older version may leave behind, and gives claims without
   * a lease a new one. If no consumer extends it, {@link ConsumerStore.transfer} takes the messages back.
   * @param lease - of claims that have none, ms
   * @param cursor - of the previous report; none for the first call
   */
  repair(lease: number, cursor?: string): Promise<RepairReport>;
}

export interface StoredMessage extends ClaimedMessage {
  readonly state: MessageState;
  /** When the message's lease ends; null unless active. */
  readonly leasedUntil: number | null;
  /** The due time, with a fraction of a millisecond that orders equal due times. Absent: `dueAt`. */
  readonly rank?: number;
  /** The name that orders messages of equal rank. Absent: the id. */
  readonly name?: string;
  /** Null unless dead. */
  readonly death: MessageDeath | null;
}

export interface MessageDeath {
  readonly at: number;
  /** The error as given in the outcome, or {@link LEASE_EXPIRED} as JSON. */
  readonly error: string;
}

export interface QueueStatus {
  readonly counts: MessageCounts;
  /** The time by the store's clock, ms. */
  readonly now: number;
  /** The due time of the earliest delayed message; null if none is delayed. */
  readonly nextDue: number | null;
  /**
   * The due time of the ready message that will be claimed next; null if none is ready or it is unknown. No ready message has waited
   * longer, except those taken back from expired leases, which are claimed last with their old due times.
   */
  readonly oldestReady: number | null;
  readonly paused: boolean;
  /** Partitions that did not answer and whose messages are not counted. Absent: none. */
  readonly missing?: readonly number[];
}

/**
 * Returns how long the oldest due message has waited for a handler, ms by the store's clock; 0 if none waits. Delayed messages count as
 * soon as they are due, because nothing makes them ready while no process is running.
 */
export function overdueOf({ now, nextDue, oldestReady }: QueueStatus): number {
  return Math.max(0, now - (nextDue ?? now), now - (oldestReady ?? now));
}

export interface TypeCountPage {
  /** The counts above 0. A state and type may be on several pages. */
  readonly counts: readonly TypeCount[];
  /** For the next page; null after the last one. */
  readonly cursor: string | null;
}

export interface TypeCount {
  readonly state: MessageState;
  /** The messages' type; empty if they have none. */
  readonly type: string;
  readonly count: number;
}

export interface PageRequest {
  readonly state: MessageState;
  /** Where the page begins: after the page with this cursor, or after this many messages of the state. Default: at the first message. */
  readonly from?: { readonly cursor: string } | { readonly offset: number };
  /** Maximum number of messages, 1–1000. */
  readonly limit: number;
}

export interface StoredPage {
  readonly messages: readonly StoredMessage[];
  /** For the next page; null after the last one. */
  readonly cursor: string | null;
  /** Partitions that did not answer and whose messages are not listed. Absent: none. */
  readonly missing?: readonly number[];
}

export interface GroupPageRequest {
  readonly group: string;
  /** The `cursor` of the previous page. Default: the first page. */
  readonly cursor?: string | undefined;
  /**
   * The maximum number of messages, 0–1000. The smallest part of a step is listed completely, even if it has more. With 0, only that part
   * is listed: a caller who has used up some of its messages can ask for it again. Default: 1000.
   */
  readonly most?: number | undefined;
}

/** The messages of a group, possibly none, found by one step through the messages of all groups. In no particular order. */
export interface GroupPage {
  readonly members: readonly GroupMember[];
  /** For the next page; null after the last one. */
  readonly cursor: string | null;
}

export interface GroupMember {
  readonly id: string;
  readonly state: MessageState;
}

/** One dead letter by id, or at most this many (1–1000) of the oldest. */
export type DeadSelection = { readonly id: string } | { readonly oldest: number };

export interface RedriveOptions {
  readonly unwrap?: boolean;
}

export interface RepairReport {
  readonly ready: readonly string[];
  readonly delayed: readonly string[];
  /** For the next call; null after the last one. */
  readonly cursor: string | null;
}
