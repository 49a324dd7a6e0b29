import type { MessageCounts, MessageState } from '../message/message.js';
import type { ClaimedMessage, HandledEntry } from './consumer-store.js';
import type {
  MessageDeath,
  RestoreOutcome,
  ScannedEntry,
  ScannedId,
  ScannedPage,
  ScannedPast,
} from './message-past.js';

/** The port's third role: inspects a queue or one of its messages, and keeps the queue in order. */
export interface AdminStore {
  /** Finds a message in any state; null if no message has this id. */
  find(id: string): Promise<StoredMessage | null>;

  /** Finds a message that {@link ConsumerStore.remember} has kept under this id; null if there is none. Absent if the store keeps none. */
  findHandled?(id: string): Promise<StoredMessage | null>;

  /** Counts the messages in each state at one instant. Also returns the due times of the next delayed and the next ready message. */
  status(): Promise<QueueStatus>;

  /**
   * Counts the messages of each type in each state, page by page, until a page has no cursor. Types are read from bodies of the native
   * codec. Layouts with other bodies have no types.
   *
   * A page shows one instant. Several pages together are exact only if no message moves meanwhile. A message that keeps its place in its
   * state is counted exactly once, whatever happens to others. A message that moves is counted at its old place, its new one, both or
   * neither, but it is not missed if it only moves forward: from delayed to ready, active and dead.
   * @param cursor - from the previous page; omitted for the first
   */
  countTypes(cursor?: string): Promise<TypeCountPage>;

  /**
   * Counts the delayed messages by due time, at one instant.
   * @param times - due times, ms, ascending: 1–401
   * @returns how many are due before the first of these times, then from each time until the next, and from the last one on
   */
  countDue(times: readonly number[]): Promise<readonly number[]>;

  /** Stops claims in all processes. Offers and transfers continue. Pausing a paused queue changes nothing. */
  pause(): Promise<void>;

  /** Allows claims again, and wakes a consumer if messages are ready. */
  resume(): Promise<void>;

  /**
   * Removes every message in every state, and what the store remembers. A paused queue stays paused. Running handlers continue, but their outcomes no longer change
   * anything. Claimed messages still count towards the rate ({@link ConsumerStore.claim}).
   * @returns the number of messages removed
   */
  clear(): Promise<number>;

  /**
   * Lists messages of one state, page by page, until a page has no cursor. Delayed messages are sorted by due time, ready ones in the order
   * in which they will be claimed, active ones by their claims' tokens and id, dead ones by time of death, handled ones
   * ({@link ConsumerStore.remember}) by time, newest first. Equal times are sorted by id.
   *
   * A page shows one instant. A message that keeps its place in its state is listed exactly once, whatever happens to others, including the
   * message at the cursor. A message that moves within its state is listed at its old place, its new one, both or neither. A page is
   * limited in bytes and in number, so it may have a cursor but fewer messages than `limit`. It is empty only if no message is left.
   * @throws DelayQueueError `INVALID_ARGUMENT` if the cursor is not from a page of this state
   */
  list(request: PageRequest): Promise<StoredPage>;

  /**
   * Lists a group's messages with their states. Each call scans, atomically, one portion of the messages of all groups. A message that
   * exists throughout the listing is returned at least once. Absent if messages have no groups.
   */
  listGroup?(request: GroupPageRequest): Promise<GroupPage>;

  /**
   * Changes a group's own settings. A paused group's messages become part of its backlog, in order; active ones continue. Settings stay
   * when the group has no messages, and when the queue is cleared. Absent if messages have no groups.
   */
  setGroup?(group: string, settings: GroupSettings): Promise<void>;

  /**
   * Lists groups that have permits in use or settings of their own, with the lengths of their backlogs. Each call examines, atomically, one portion of the groups. A
   * group may be listed by several calls. Absent if messages have no groups.
   * @param cursor - from the previous call; omitted in the first
   */
  listGroups?(cursor?: string): Promise<GroupBacklogs>;

  /**
   * Lists messages that have permits, in no particular order. Each call examines, atomically, one portion of them. Messages that move
   * between two calls may be missed or listed twice. Absent if messages have no groups.
   * @param cursor - from the previous call; omitted in the first
   */
  listHolders?(cursor?: string): Promise<PermitHolders>;

  /**
   * Reads all messages with everything that an offer with a `past` needs to store them elsewhere, in no particular order, page by page, until
   * a page has no cursor. A page shows one instant. A message that exists throughout all pages is returned at least once, whatever becomes of
   * it. Absent if the store cannot take in such offers.
   * @param cursor - from the previous page; omitted for the first
   */
  scan?(cursor?: string): Promise<ScannedPage>;

  /**
   * Reads what {@link ConsumerStore.remember} has kept, whether or not the store remembers messages now, page by page, until a page has no
   * cursor. An entry that is there throughout all pages is returned at least once. Absent if the store keeps none.
   * @param cursor - from the previous page; omitted for the first
   */
  scanHistory?(cursor?: string): Promise<ScannedPast<ScannedEntry>>;

  /** Does the same for ids that are kept (`StoreLimits.idsFor`). */
  scanKeptIds?(cursor?: string): Promise<ScannedPast<ScannedId>>;

  /**
   * Remembers a handled message that another store has remembered, whether or not this one remembers messages. Drops the oldest entries if
   * there are too many. A repeated call changes nothing.
   */
  restoreHandled?(entry: ScannedEntry): Promise<RestoreOutcome>;

  /** Does the same for an id that another store keeps. */
  restoreKeptId?(kept: ScannedId): Promise<RestoreOutcome>;

  /**
   * Makes dead letters due now, with all their attempts restored. {@link ConsumerStore.watchDue} announces them.
   * @param options - `unwrap`: removes from the bodies the time at which their messages first fell due (`body-forms.ts`), because they fall
   *   due again. Default: bodies stay as they are
   * @returns the number of messages redriven
   */
  redrive(selection: DeadSelection, options?: RedriveOptions): Promise<number>;

  /** Removes dead letters for good. @returns the number of messages removed */
  discard(selection: DeadSelection): Promise<number>;

  /**
   * Gives a state to orphaned messages, which damage from outside may leave: delayed until their due time, or ready if it has passed. Each
   * call examines a part of the queue. If the queue is undamaged, the first call ends the search. A queue with very many ready messages is
   * left for later: due orphans would queue behind all of those anyway.
   *
   * Also offers followers of messages that are gone or dead, which a process of an older version may leave behind, and gives a lease to
   * claims without one. If no consumer extends that lease, {@link ConsumerStore.transfer} takes the messages back.
   * @param lease - the length of leases given to claims without one, ms
   * @param cursor - from the previous report; omitted in the first call
   */
  repair(lease: number, cursor?: string): Promise<RepairReport>;
}

/** The states that can be listed. Handled messages are only remembered. */
export type ListedState = MessageState | 'handled';

/** The body of a handled message is empty unless its record is kept. */
export interface StoredMessage extends ClaimedMessage {
  readonly state: ListedState;
  /** When the message's lease ends; null unless active. */
  readonly leasedUntil: number | null;
  /** The due time, with a fraction of a millisecond that orders equal due times. Default: `dueAt`. */
  readonly rank?: number;
  /** The name that orders messages of equal rank. Default: the id. */
  readonly name?: string;
  /** Null unless dead. */
  readonly death: MessageDeath | null;
  /** Absent unless handled. */
  readonly handling?: StoredHandling;
}

/** `at`: when the message was handled, by the store's clock, ms. */
export interface StoredHandling extends HandledEntry {
  readonly at: number;
}

export interface QueueStatus {
  readonly counts: MessageCounts;
  /** The time by the store's clock, ms. */
  readonly now: number;
  /** The due time of the earliest delayed message; null if none is delayed. */
  readonly nextDue: number | null;
  /**
   * The due time of the ready message that will be claimed next; null if none is ready or it is unknown. No ready message has waited
   * longer, except those taken back from expired leases, which keep their due times but are claimed last.
   */
  readonly oldestReady: number | null;
  readonly paused: boolean;
  /** Partitions that did not answer and whose messages are not counted. Absent if all answered. */
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
  /** The counts above 0. A state and type may appear on several pages. */
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
  readonly state: ListedState;
  /** Where the page begins: after the page that returned this cursor, or after this many messages. Default: at the first message. */
  readonly from?: { readonly cursor: string } | { readonly offset: number };
  /** Maximum number of messages, 1–1000. */
  readonly limit: number;
}

export interface StoredPage {
  readonly messages: readonly StoredMessage[];
  /** For the next page; null after the last one. */
  readonly cursor: string | null;
  /** Partitions that did not answer and whose messages are not listed. Absent if all answered. */
  readonly missing?: readonly number[];
}

export interface GroupPageRequest {
  readonly group: string;
  /** The `cursor` of the previous page. Default: the first page. */
  readonly cursor?: string | undefined;
  /**
   * The maximum number of messages, 0–1000. The smallest part that a call can examine is listed completely, even if it has more. With 0,
   * only that part is listed, so a caller that has already used some of its messages can ask for it again. Default: 1000.
   */
  readonly most?: number | undefined;
}

/** Those of a group's messages, possibly none, that one step through the messages of all groups has found. In no particular order. */
export interface GroupPage {
  readonly members: readonly GroupMember[];
  /** For the next page; null after the last one. */
  readonly cursor: string | null;
}

export interface GroupMember {
  readonly id: string;
  readonly state: MessageState;
}

/** A group's own settings. Absent: not changed, or none. */
export interface GroupSettings {
  readonly paused?: boolean;
  /** `'default'`: that of the queue's groups. */
  readonly concurrency?: number | 'unlimited' | 'default';
}

export interface GroupBacklogs {
  readonly groups: readonly GroupBacklog[];
  /** The number of groups that have permits in use. */
  readonly total: number;
  /** For the next call; null after the last one. */
  readonly cursor: string | null;
}

export interface GroupBacklog {
  readonly group: string;
  /** How many due messages wait for a permit. */
  readonly waiting: number;
  /** How many permits are taken, by messages that are ready, active, or wait for a retry. */
  readonly holding: number;
  readonly paused: boolean;
  /** The group's own number of permits. Undefined: that of the queue's groups. */
  readonly concurrency: number | 'unlimited' | undefined;
}

export interface PermitHolders {
  readonly holders: readonly { readonly id: string; readonly group: string }[];
  /** For the next call; null after the last one. */
  readonly cursor: string | null;
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
