import type { MessageBody } from '../message/codec/message-codec.js';
import type { MessageFailure } from '../message/message.js';

/** The port's second role: takes messages from delayed to settled, and wakes consumers. */
export interface ConsumerStore {
  /**
   * Moves due messages from delayed to ready, earliest first and never early. Takes back active messages with an expired lease: an attempt
   * is spent, and the message becomes ready again, or dead if neither its queue nor the message itself gives it more attempts. A repeating
   * message always becomes ready, because only the consumer that claims it next has the calendar that knows its next due time. So does a
   * message with fewer attempts than its queue; that consumer dead-letters it. Processes at most `limit` messages of each kind. If `more`
   * is true, call again.
   *
   * Whenever ready messages remain, one consumer is woken ({@link WakeSignal}), unless a consumer is already waiting for the queue's rate
   * to allow more (see {@link claim}), the queue is paused ({@link AdminStore.resume} wakes one) or its global concurrency is used up. After
   * a crash right after the call, the moved messages are ready, and a consumer has been woken for them.
   */
  transfer(request: TransferRequest): Promise<TransferReport>;

  /**
   * Takes at most `limit` ready messages, oldest first and up to `maxBytes`, under one lease. They belong to this claim until the lease
   * ends; then {@link transfer} takes them back. If ready messages remain, another consumer is woken. While the queue is paused, takes
   * nothing and wakes nobody. A crash right after the call costs the messages their lease and an attempt.
   *
   * A token takes messages only once: the answer names all the messages that it will ever hold. A claim that `supersedes` another ends that
   * one, even if it arrives later. Messages that the superseded claim took pass to this one within its limits, and the rest become ready
   * again. No attempt is spent, and nothing else is taken. If the superseded claim took nothing, this is an ordinary claim.
   *
   * A queue with a rate gives out no more messages than its rate allows. The rest stay ready. Every message taken counts, even if it was
   * claimed before: retried, released, or taken back from an expired lease. Messages that pass to a superseding claim count once. What has
   * counted stays counted, even after {@link AdminStore.clear}, because the resource protected by the rate has been used. A claim that gets
   * less than it asks for because the rate is spent wakes nobody. Its answer tells one of the queue's consumers when to claim again. The
   * others wait until they are woken. If that consumer does not return, a {@link transfer} soon afterwards wakes another one.
   *
   * A queue with a global concurrency never has more active messages, with and without groups together, and whatever became of their
   * consumers. While it is used up, claims take nothing and wake nobody. Whatever ends a claim wakes the consumer that has waited longest:
   * {@link settle}, {@link abort}, an offer that replaces the message, or a {@link transfer} after the lease has ended. If that wake-up is
   * lost, the next {@link transfer} wakes a consumer.
   */
  claim(request: ClaimRequest): Promise<ClaimReport>;

  /**
   * Does {@link transfer} and {@link claim} in one call, for a process with free slots: due messages go straight from delayed into the
   * claim's lease. Done only if two calls would have the same effect: nothing is ready, no lease has expired, and the queue is neither
   * paused nor limited by a rate or a global concurrency. Due messages beyond the claim's limits stay delayed, as `more` reports. A crash
   * right after the call costs the same as one after a claim.
   * @param announcer - as in {@link TransferRequest}
   * @returns undefined if a condition is not met; then nothing was changed or announced
   */
  transferAndClaim?(claim: ClaimRequest, announcer?: Announcer): Promise<ClaimedTransfer | undefined>;

  /** Wakes a consumer if messages are ready and the queue is not paused. */
  wake(): Promise<void>;

  /**
   * Makes the leases of these claims end `lease` ms from now. A lease covers all of a token's messages, so the caller names every claim
   * that it holds. A token's other messages are released: they become ready again, with no attempt spent.
   * @returns the claims that are no longer held: settled, expired and taken back, replaced or cleared
   */
  extend<Held extends Claim>(claims: readonly Held[], lease: number): Promise<Held[]>;

  /**
   * Ends claims, each with its outcome. A claim that is no longer held changes nothing, which fences off late outcomes. If a message is
   * delayed again and is now the earliest, {@link watchDue} announces it.
   *
   * When an outcome or a {@link transfer} ends a message, its follower (`onDuplicate: 'follow'`) takes its place in the same step: the
   * follower is offered with its own delay from now, and no dead letter is left. After every other outcome, the follower keeps waiting.
   *
   * A repeating message without a follower comes again with its outcome's `next`, unless {@link ProducerStore.cancel} has ended its
   * repetition.
   *
   * In a store with `StoreLimits.idsFor`, the same step keeps the id of a message that was handled and is gone ({@link keepsId}), and drops the
   * oldest kept ids beyond the limits, but not many more in one call than it adds.
   */
  settle(settlements: readonly Settlement[]): Promise<SettleReport>;

  /**
   * Keeps an entry for each of these handled messages, in place of an earlier one with the same id, and with `payloads` a copy of their
   * records. Called before {@link settle}, so that the records are still there. An entry that is sent again stays as it is. Drops the oldest entries beyond the limits of the history
   * ({@link HistoryRules}), but not many more in one call than it adds. Absent if the store keeps no history.
   */
  remember?(handlings: readonly Handling[]): Promise<void>;

  /**
   * Removes an active message. Exactly one of `abort` and {@link settle} wins. The consumer that holds the message learns of this from
   * {@link DueListener.onAbort} or, if that announcement is lost, from {@link extend}. A follower takes the message's place, unless the
   * follower repeats, in which case it is removed as well.
   * @returns false if the message is not, or is no longer, active
   */
  abort(id: string): Promise<boolean>;

  /** Resolves to false if an outcome with this body would make the server close the connection. Absent or undefined: any body is safe. */
  accepts?(body: MessageBody): Promise<boolean> | undefined;

  /** Listens for earlier due times and aborts until the returned function is called. Announcements may get lost, and are not repeated. */
  watchDue(listener: DueListener): () => void;

  /**
   * Resolves once listeners of {@link watchDue} have received everything announced before this call, or after a moment if that cannot be
   * known. Absent if the store's announcements always arrive before its reply to any later call.
   */
  catchUp?(): Promise<void>;

  openWakeSignal(): WakeSignal;
}

export interface ClaimedTransfer {
  readonly report: TransferReport;
  readonly claimed: ClaimReport;
}

export interface TransferRequest {
  /** The scheduler that announces this transfer ({@link DueListener.onTransfer}). Default: it is not announced. */
  readonly announcer?: Announcer | undefined;
  /** Maximum number of messages to move, and of messages to take back from expired leases (1–1000 each). */
  readonly limit: number;
}

export interface Announcer {
  /** The scheduler's id, without spaces. */
  readonly scheduler: string;
  /** When the scheduler last moved or took back something, by the store's clock, ms (with fractions); null: never. */
  readonly movedAt: number | null;
}

export interface TransferReport {
  readonly moved: number;
  /** Number of messages taken back from expired leases that are now ready again. */
  readonly recovered: number;
  /** Ids of messages taken back from expired leases with no attempts left. They are now dead. */
  readonly deadLettered: readonly string[];
  /** Number of dead letters removed because there were more than `maxDeadLetters`, oldest first. */
  readonly dropped: number;
  /** True if the limit was reached, so that another call is worthwhile. */
  readonly more: boolean;
  readonly ready: number;
  /** Milliseconds (with fractions) until the earliest delayed message falls due or the earliest lease ends; null: none. */
  readonly nextIn: number | null;
  /** {@link nextIn} as a time; null: none. */
  readonly nextAt: number | null;
  /** When the report was made, by the store's clock, ms (with fractions). */
  readonly at: number;
}

/** A message held by a claim. Each claim of a message has a different token. */
export interface Claim {
  readonly id: string;
  readonly token: string;
  /** The message's group. If undefined, a store for messages with groups looks it up, at a cost. */
  readonly group?: string | undefined;
}

export interface ClaimRequest {
  /** A new token for every claim, unique across processes. */
  readonly token: string;
  /** The token of a claim whose answer was lost, and which this claim replaces. */
  readonly supersedes?: string;
  /** Maximum number of messages to take (0–1000). With 0, releases what the superseded claim took, and returns the store's time. */
  readonly limit: number;
  /** Maximum total size of bodies to take, bytes. One message is taken whatever its size. Default: no limit. */
  readonly maxBytes?: number;
  /** How long the messages are held unless the lease is extended, ms. */
  readonly lease: number;
}

export interface ClaimReport {
  readonly messages: readonly ClaimedMessage[];
  /** True if ready messages remain that can be claimed now; false while paused. */
  readonly more: boolean;
  /** The store's time, ms (with fractions). */
  readonly now: number;
  /** Present if ready messages remain, the rate is spent and nobody waits: ms (with fractions) until the caller must claim again. */
  readonly claimAgainIn?: number;
  /** Ids that were ready but had no message because the store was damaged from outside. They have been removed from the ready ids. */
  readonly orphans: readonly string[];
}

export interface ClaimedMessage {
  readonly id: string;
  readonly body: Buffer;
  readonly failedAttempts: number;
  readonly dueAt: number;
  readonly offeredAt: number;
}

/** Begins the error of a dead letter with an unreadable body. `maxDeadLetters` never drops such a letter: another codec may read it. */
export const UNREAD_ERROR = '{"name":"Unreadable';

/** The error of a dead letter whose last attempt ended with its lease. */
export const LEASE_EXPIRED: MessageFailure = {
  name: 'LeaseExpired',
  message: 'The consumer did not settle the message within its lease: it crashed, stalled or lost its connection.',
};

/** The outcome of a claimed message. `body` replaces the message's body. Default: the body stays. */
export type Outcome =
  /** Handled: the message is gone and its id is free. `lateBy`: not handled, because it had expired this many ms earlier; for observers. */
  | { readonly kind: 'ack'; readonly lateBy?: number; readonly next?: NextOccurrence }
  /** Failed: delayed again, an attempt spent. */
  | { readonly kind: 'retry'; readonly delay: number; readonly body?: MessageBody }
  /** Delayed again, no attempt spent. */
  | { readonly kind: 'defer'; readonly delay: number; readonly body?: MessageBody }
  | { readonly kind: 'defer'; readonly at: number; readonly body?: MessageBody }
  /** Handled for now: offered again in the same step, with the same id and all attempts. */
  | { readonly kind: 'again'; readonly delay: number; readonly body?: MessageBody }
  | { readonly kind: 'again'; readonly at: number; readonly body?: MessageBody }
  /** Not handled: ready again before all others, with the same due time and no attempt spent. A consumer is woken. */
  | { readonly kind: 'release' }
  /** Failed for good: a dead letter, an attempt spent unless `by` is `lease`. `by` and `lateBy` are not stored. */
  | {
      readonly kind: 'dead';
      readonly error: string;
      readonly by?: 'handler' | 'reject' | 'lease' | 'unreadable' | 'unknown-type' | 'expired';
      readonly body?: MessageBody;
      readonly lateBy?: number;
      /** `letter`: the id of the non-repeating dead letter that the occurrence leaves behind. */
      readonly next?: NextOccurrence & { readonly letter: string; readonly failedAttempts: number };
    };

/**
 * The next occurrence of a repeating message. It is offered again in the same step, with the same id and all attempts. If somebody has
 * paused the repetition, it is due only once that has been resumed.
 */
export interface NextOccurrence {
  /** Null: there is none, so the message is gone. */
  readonly at: number | null;
  /** How many occurrences are now over. Default: as many as before. */
  readonly count?: number;
}

export interface Settlement {
  readonly claim: Claim;
  readonly outcome: Outcome;
}

/** True for an outcome after which a store may keep the id: a handler has handled the message, and it does not repeat. */
export const keepsId = ({ outcome }: Settlement): boolean =>
  outcome.kind === 'ack' && outcome.next === undefined && outcome.lateBy === undefined;

/** A message that a handler has handled. */
export interface Handling {
  readonly id: string;
  /** The id under which it is kept. For an occurrence of a repeating message, the id that its dead letter would have. */
  readonly keptAs: string;
  readonly entry: HandledEntry;
}

/** What is remembered of a handled message. Times are ms. */
export interface HandledEntry {
  readonly dueAt: number;
  readonly offeredAt: number;
  /** The time from the due time to the start of the handler. */
  readonly lateness: number;
  /** The time from the start of the handler to its outcome. */
  readonly took: number;
  readonly attempt: number;
  /** Absent if the message has no type. */
  readonly type?: string;
  readonly group?: string;
  readonly worker: HandlingWorker;
}

/** A process that handles messages. */
export interface HandlingWorker {
  /** The id by which `workers()` lists it. */
  readonly id: string;
  readonly host: string;
  readonly pid: number;
}

export interface SettleReport {
  /** For each settlement, in order: true if the claim was still held, so the outcome counts. */
  readonly accepted: readonly boolean[];
  /** As in {@link TransferReport.dropped}. */
  readonly dropped: number;
  /** Number of kept ids that were dropped before their time, because there were too many. Absent if ids are not kept. */
  readonly idsDropped?: number;
}

export interface DueListener {
  /** Called when a message is announced that will fall due in `dueIn` ms, at `dueAt`, before anything else in the queue. */
  onEarlierDue(announcement: { dueAt: number; dueIn: number }): void;
  /** Called when a scheduler, perhaps the listener's own, has made a transfer. */
  onTransfer?(transfer: AnnouncedTransfer): void;
  /** Called when a claim's message has been aborted, which ends the claim. */
  onAbort?(claim: Claim): void;
  /** Called when the queue's limits have changed. */
  onLimits?(): void;
  /** Called when announcements begin to arrive, or resume. Earlier ones may have been missed. */
  onListening(): void;
}

/** A scheduler's announcement of its transfer. `movedAt` includes this transfer. */
export interface AnnouncedTransfer extends Announcer, Pick<TransferReport, 'at' | 'ready' | 'nextAt' | 'nextIn'> {}

/** The signal that an idle consumer waits for. One signal wakes one consumer in one process. */
export interface WakeSignal {
  /** Waits for the signal, {@link leave}, {@link close} or `timeout` ms. Returns true if the signal came. Others may still claim first. */
  wait(timeout: number): Promise<boolean>;
  /** Leaves signals to other consumers until the next wait. Not needed by a consumer that will soon wait again. */
  leave(): void;
  /** Ends a wait and frees the connection. */
  close(): Promise<void>;
}
