import type { MessageCounts, MessageState } from '../message/message.js';
import type { ClaimedMessage } from './consumer-store.js';

/** The port's third role: inspects a queue or one of its messages, and keeps the queue in order. */
export interface AdminStore {
  /** Finds a message in any state; null if no message has the id. */
  find(id: string): Promise<StoredMessage | null>;

  /** Counts the messages in each state at one instant. Also returns the earliest due times of delayed and of ready messages. */
  status(): Promise<QueueStatus>;

  /**
   * Counts the messages of each type in each state, page by page, until a page has no cursor. Types are read from bodies of the native
   * codec; with a layout that has other bodies, no message has a type.
   *
   * A page shows one instant, and several pages are exact together while no message moves. A message that keeps its place in its state is
   * counted exactly once, whatever happens to others. A message that moves is counted at its old place, at its new one, at both or at
   * neither; but it is not missed if it only moves forward, from delayed to ready, active and dead.
   * @param cursor - of the previous page; none for the first
   */
  countTypes(cursor?: string): Promise<TypeCountPage>;

  /** Stops claims in all processes; offers and transfers continue. Pausing a paused queue changes nothing. */
  pause(): Promise<void>;

  /** Allows claims again, and wakes a consumer for what is ready. */
  resume(): Promise<void>;

  /**
   * Removes every message in every state; a paused queue stays paused. Running handlers continue, but their outcomes no longer change
   * anything. Claimed messages still count towards the rate ({@link ConsumerStore.claim}).
   * @returns the number of messages removed
   */
  clear(): Promise<number>;

  /**
   * Lists messages of one state, page by page, until a page has no cursor. Delayed messages are sorted by due time, ready ones by the order
   * of claims, active ones by their claims' tokens and their ids, and dead ones by time of death. Delayed or dead messages with equal times
   * are sorted by id.
   *
   * A page shows one instant. A message that keeps its place in its state is listed exactly once, whatever happens to others, including the
   * one at the cursor. A message that moves within its state is listed at its old place, at its new one, at both or at neither. A page is
   * bounded in bytes and in number, so it may have a cursor and yet fewer messages than `limit`. It has at least one unless none of the
   * state is left.
   * @throws DelayQueueError `INVALID_ARGUMENT` if the cursor is not from a page of this state
   */
  list(request: PageRequest): Promise<StoredPage>;

  /**
   * Lists the messages of a group, with their states at one instant, in steps through the messages of all groups. A message that exists
   * throughout is listed at least once. Absent if messages have no groups.
   */
  listGroup?(request: GroupPageRequest): Promise<GroupPage>;

  /**
   * Makes dead letters due now, with all their attempts. {@link ConsumerStore.watchDue} announces it.
   * @param options - `unwrap`: removes from a body the time at which its message first fell due (`body-forms.ts`), because the message
   *   falls due again. Default: bodies stay as they are
   * @returns the number of messages
   */
  redrive(selection: DeadSelection, options?: RedriveOptions): Promise<number>;

  /** Removes dead letters for good. @returns the number of messages */
  discard(selection: DeadSelection): Promise<number>;

  /**
   * Gives a state to orphaned messages, as damage from outside may leave them: delayed until their due times, or ready if those have
   * passed. Each call examines a part of the queue; the first call for an undamaged queue ends at once. A queue with very many ready
   * messages is left for later, because due orphans would follow all of them.
   *
   * Also releases followers of messages that are gone or dead, which a process of an older version leaves behind, and gives a lease to
   * claims that have none: a consumer that holds one extends it, otherwise {@link ConsumerStore.transfer} takes its messages back.
   * @param lease - of such claims, ms
   * @param cursor - of the previous report; none for the first call
   */
  repair(lease: number, cursor?: string): Promise<RepairReport>;
}

export interface StoredMessage extends ClaimedMessage {
  readonly state: MessageState;
  /** When its lease ends; null unless active. */
  readonly leasedUntil: number | null;
  /** The due time, with the fraction of a millisecond that keeps the order of equal ones. Absent: `dueAt`. */
  readonly rank?: number;
  /** The name that orders messages of equal rank. Absent: the id. */
  readonly name?: string;
  /** Null unless dead. */
  readonly death: MessageDeath | null;
}

export interface MessageDeath {
  readonly at: number;
  /** As given in the outcome, or {@link LEASE_EXPIRED} as JSON. */
  readonly error: string;
}

export interface QueueStatus {
  readonly counts: MessageCounts;
  /** The store's clock, ms. */
  readonly now: number;
  /** The due time of the earliest delayed message; null if none is delayed. */
  readonly nextDue: number | null;
  /**
   * The due time of the ready message that is claimed next; null if none is ready, or it is not known. No ready message has waited longer,
   * except those taken back from expired leases, which are claimed last with their old due times.
   */
  readonly oldestReady: number | null;
  readonly paused: boolean;
  /** The partitions that did not answer, whose messages are not counted. Absent: none. */
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
  /** Without zeros. A state and type may be on several pages. */
  readonly counts: readonly TypeCount[];
  /** For the next page; null after the last one. */
  readonly cursor: string | null;
}

export interface TypeCount {
  readonly state: MessageState;
  /** Empty: none. */
  readonly type: string;
  readonly count: number;
}

export interface PageRequest {
  readonly state: MessageState;
  /** Where the page begins: behind the page with this cursor, or after this many messages of the state. Default: at the first message. */
  readonly from?: { readonly cursor: string } | { readonly offset: number };
  /** Maximum number of messages, 1–1000. */
  readonly limit: number;
}

export interface StoredPage {
  readonly messages: readonly StoredMessage[];
  /** For the next page; null after the last one. */
  readonly cursor: string | null;
  /** The partitions that did not answer, whose messages are not listed. Absent: none. */
  readonly missing?: readonly number[];
}

export interface GroupPageRequest {
  readonly group: string;
  /** The `cursor` of the previous page; default: the first page. */
  readonly cursor?: string | undefined;
  /**
   * The maximum number of messages, 0–1000. The smallest part of a step is listed as a whole, even if it has more. With 0, only that part
   * is listed, so a caller who has used some of its messages can ask for it again. Default: 1000.
   */
  readonly most?: number | undefined;
}

/** The messages of a group, perhaps none, that one step through the messages of all groups has found, in no particular order. */
export interface GroupPage {
  readonly members: readonly GroupMember[];
  /** For the next page; null after the last one. */
  readonly cursor: string | null;
}

export interface GroupMember {
  readonly id: string;
  readonly state: MessageState;
}

/** One dead letter by its id, or at most this many (1–1000) of the oldest. */
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
