import type { MessageCounts, MessageState } from '../message/message.js';
import type { ClaimedMessage } from './consumer-store.js';

/** The port's third role: looks at a queue as a whole, or at one message in it, and keeps the queue in order. */
export interface AdminStore {
  /** Looks at one message, in whatever state; null if there is none of that id. */
  find(id: string): Promise<StoredMessage | null>;

  /** Counts the messages in each state at one instant, with the due times at the head of the delayed and of the ready ones. */
  status(): Promise<QueueStatus>;

  /**
   * Counts the messages of each type in each state, page by page; a walk ends with the page that has no cursor. Types are
   * read from bodies of the native codec; where the layout has others, no message has a type.
   *
   * A page shows one instant, and a walk of several is exact while no message moves. A message that keeps its state and its
   * place there is counted exactly once, whatever happens to others. One that moves is counted at its old place, at its new
   * one, at both or at neither; but it is not missed if it only goes on, from delayed to ready, active and dead.
   *
   * @param cursor - of the page before; none for the first
   */
  countTypes(cursor?: string): Promise<TypeCountPage>;

  /** Stops claims in all processes; offers and transfers go on. Pausing a paused queue changes nothing. */
  pause(): Promise<void>;

  /** Allows claims again and rings for what is ready. */
  resume(): Promise<void>;

  /**
   * Removes every message in every state; a paused queue stays paused. Running handlers go on, but their outcomes no longer
   * change anything. What has been claimed still counts for the rate ({@link ConsumerStore.claim}).
   *
   * @returns how many messages were removed
   */
  clear(): Promise<number>;

  /**
   * Lists messages of one state, page by page; a walk ends with the page that has no cursor. Delayed ones come in the order of
   * their due times, ready ones in the order of claims, active ones by the token of their claim and their id, and dead ones in the
   * order of their deaths. Equal delayed and dead ones come in the order of their ids.
   *
   * A page shows one instant. A message that stays where it is during a walk is listed exactly once, whatever happens to others,
   * the one at the cursor included. One that moves within its state is listed at its old place, at its new one, at both or at
   * neither. A page is bounded in bytes as well as in number, so it may have fewer messages than `limit` and still a cursor; it
   * has at least one unless the state is empty from there on.
   *
   * @throws DelayQueueError `INVALID_ARGUMENT` if the cursor is not one of a page of this state
   */
  list(request: PageRequest): Promise<StoredPage>;

  /**
   * Lists the messages of a group, with the states that they have at one instant, in steps through the messages of all groups. A message
   * that is there all the time is listed at least once. Left out where messages have no groups.
   */
  listGroup?(request: GroupPageRequest): Promise<GroupPage>;

  /**
   * Makes dead letters due now, with all attempts before them again. {@link ConsumerStore.watchDue} tells of it.
   *
   * @param options - `unwrap`: a body that tells when its message first fell due (`body-forms.ts`) loses what tells it, because it
   *   falls due anew. Default: bodies stay as they are
   * @returns how many
   */
  redrive(selection: DeadSelection, options?: RedriveOptions): Promise<number>;

  /**
   * Removes dead letters for good.
   *
   * @returns how many
   */
  discard(selection: DeadSelection): Promise<number>;

  /**
   * Gives a state to messages that are kept but are in none, as damage from outside may leave them: delayed until their due
   * times, or ready if those have passed. Each call looks at a part of the queue; the first look at a sound queue ends at once.
   * A queue with a long line of ready messages is left for later: what is lost and due would join the end of that line anyway.
   *
   * It also releases messages that follow one that is gone or dead, which a process of an older version leaves behind, and gives a lease
   * to claims that have none: a consumer that holds one extends it, and otherwise {@link ConsumerStore.transfer} takes its messages back.
   *
   * @param lease - of such claims, ms
   * @param cursor - of the report before; none for a first look
   */
  repair(lease: number, cursor?: string): Promise<RepairReport>;
}

export interface StoredMessage extends ClaimedMessage {
  readonly state: MessageState;
  /** When its lease ends; null unless active. */
  readonly leasedUntil: number | null;
  /** When it is due, with the fraction of a millisecond that keeps equal ones in order; absent: `dueAt`. */
  readonly rank?: number;
  /** What orders it among those of equal ranks, and is the name of its place; absent: its id. */
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
  /** When the earliest delayed message falls due; null: none is delayed. */
  readonly nextDue: number | null;
  /**
   * When the ready message that is claimed next fell due; null: none is ready, or that is not known. No other has waited longer,
   * but for those taken back from expired leases, which join the end of the line with the due times that they had.
   */
  readonly oldestReady: number | null;
  readonly paused: boolean;
  /** The partitions that did not answer, and are left out; absent: none. */
  readonly missing?: readonly number[];
}

/**
 * How long the oldest due message has waited for a handler, ms by the store's clock; 0: none waits. Delayed messages count as soon as
 * they are due: nothing makes them ready while no process is there to do it.
 */
export function overdueOf({ now, nextDue, oldestReady }: QueueStatus): number {
  return Math.max(0, now - (nextDue ?? now), now - (oldestReady ?? now));
}

export interface TypeCountPage {
  /** None of zero. A state and type may be on several pages. */
  readonly counts: readonly TypeCount[];
  /** To go on with; null: this was the last page. */
  readonly cursor: string | null;
}

/** So many messages. */
export interface TypeCount {
  readonly state: MessageState;
  /** Empty: none. */
  readonly type: string;
  readonly count: number;
}

export interface PageRequest {
  readonly state: MessageState;
  /** Where the page begins: behind the page with this cursor, or behind so many messages of the state; default: at the first. */
  readonly from?: { readonly cursor: string } | { readonly offset: number };
  /** The maximum number of messages, 1–1000. */
  readonly limit: number;
}

export interface StoredPage {
  readonly messages: readonly StoredMessage[];
  /** For the next page; null: this was the last one. */
  readonly cursor: string | null;
  /** The partitions that did not answer, and are left out; absent: none. */
  readonly missing?: readonly number[];
}

export interface GroupPageRequest {
  readonly group: string;
  /** The `cursor` of the page before; default: the first page. */
  readonly cursor?: string | undefined;
  /**
   * The maximum number of messages, 0–1000. The smallest part of a step is listed as a whole, even if it has more; with 0, nothing else
   * is listed, so that a caller who has used only some of it can ask for it again. Default: 1000.
   */
  readonly most?: number | undefined;
}

/** What one step through the messages of all groups has found of one: some of its messages, perhaps none, in no particular order. */
export interface GroupPage {
  readonly members: readonly GroupMember[];
  /** For the next page; null: this was the last one. */
  readonly cursor: string | null;
}

export interface GroupMember {
  readonly id: string;
  readonly state: MessageState;
}

/** One dead letter by its id, or at most so many (1–1000) of the oldest. */
export type DeadSelection = { readonly id: string } | { readonly oldest: number };

export interface RedriveOptions {
  readonly unwrap?: boolean;
}

export interface RepairReport {
  /** Messages that were in no state and are ready now. */
  readonly ready: readonly string[];
  /** Messages that were in no state and are delayed now. */
  readonly delayed: readonly string[];
  /** To go on with; null: this look is over. */
  readonly cursor: string | null;
}
