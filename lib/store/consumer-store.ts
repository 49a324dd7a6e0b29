import type { MessageBody } from '../message/codec/message-codec.js';
import type { DeathCause } from '../events/delay-queue-events.js';
import type { MessageFailure } from '../message/message.js';

/** The port's second role: the stages of a message's way from delayed to settled, and the signals between them. */
export interface ConsumerStore {
  /**
   * Moves due messages from delayed to ready, earliest first and never early. It also takes back active messages whose
   * lease has expired: an attempt is spent, and the message is ready again or dead. It does at most `limit` of each; `more`
   * says that another call is worth it. One that repeats is never dead but ready, so that whoever claims it finds its next time: only
   * a calendar knows it. Whenever ready messages remain, one consumer is woken ({@link WakeSignal}), unless one already
   * waits for the queue's rate (see {@link claim}).
   *
   * While the queue is paused nobody is woken; {@link AdminStore.resume} does that.
   *
   * After a crash right after the call, the moved messages are ready, and a consumer has been woken for them.
   */
  transfer(request: TransferRequest): Promise<TransferReport>;

  /**
   * Takes ready messages, oldest first, under one lease. They belong to this claim until it ends; {@link transfer} takes
   * them back after that. It takes at most `limit` messages and stops at `maxBytes`. If ready messages remain, another
   * consumer is woken. While the queue is paused it takes nothing and wakes nobody.
   *
   * A token takes once: the answer names all that it will ever hold. A claim `insteadOf` another one ends that one, however
   * late it arrives: what the other took passes to this claim within the same bounds, the rest is ready again, no attempt
   * is spent, and nothing else is taken. If the other took nothing, this is a claim like any other.
   *
   * A queue with a rate gives out no more messages than its rate allows; the rest stays ready. Every message taken counts, also
   * one that was claimed before: retried, released, or taken back from an expired lease. What passes to a successor counts
   * once. Nothing gives back what has counted, not even {@link AdminStore.clear}: whatever the rate protects has been used.
   * A claim that gets less than it asks for because the rate is spent wakes nobody. Its answer tells one consumer of the queue
   * when to claim again, and the others need do nothing until they are woken. If that consumer does not come back, a
   * {@link transfer} soon after wakes another one.
   *
   * A crash right after the call costs the messages their lease and an attempt.
   */
  claim(request: ClaimRequest): Promise<ClaimReport>;

  /**
   * {@link transfer} and {@link claim} in one call, for a process with hands free: due messages go straight from delayed into the
   * claim's lease. It does so only where the order stays that of the two calls: nothing is ready, no lease has expired, and the queue
   * is neither paused nor limited by a rate. What is due beyond the claim's limits stays delayed, and `more` says so. A crash right
   * after costs what it costs after a claim.
   *
   * @param announcer - as in {@link TransferRequest}
   * @returns undefined if something stands in the way: nothing was changed, and nobody was told
   */
  transferAndClaim?(claim: ClaimRequest, announcer?: Announcer): Promise<ClaimedTransfer | undefined>;

  /** Wakes a consumer if messages are ready and the queue is not paused. */
  wake(): Promise<void>;

  /**
   * Makes the leases of these claims end `lease` ms from now. A lease belongs to all messages of a token, so a call names
   * all that its caller knows it holds. Whatever else a token holds belongs to nobody: it is ready again, with no attempt
   * spent.
   *
   * @returns those that are no longer held: settled, expired and taken back, replaced or cleared
   */
  extend<Held extends Claim>(claims: readonly Held[], lease: number): Promise<Held[]>;

  /**
   * Ends claims, each with its outcome. A claim that is no longer held changes nothing: this is the fence against late
   * answers. {@link watchDue} tells of a message that is delayed again and is the new earliest.
   *
   * A message that follows (`onDuplicate: 'follow'`) takes the place of one that is gone or dead, in the same step: offered now, with its
   * own delay from now. No dead letter is left then. With every other outcome it goes on waiting. A {@link transfer} that buries a
   * message does the same.
   *
   * A message that repeats comes again with `next` of its outcome, unless {@link ProducerStore.cancel} has ended it meanwhile, or another
   * one follows it.
   */
  settle(settlements: readonly Settlement[]): Promise<SettleReport>;

  /**
   * Removes a message that is active. Exactly one of `abort` and {@link settle} wins. {@link DueListener.onAbort} tells the consumer
   * that holds it; if that gets lost, {@link extend} does. A follower takes its place, unless it repeats: then it is removed as well.
   *
   * @returns whether it was removed; false if it is not active, or no longer
   */
  abort(id: string): Promise<boolean>;

  /**
   * Whether an outcome can have this body: one that is longer than the server accepts would close the connection at each attempt to
   * settle. Undefined, here or as the answer: it can.
   */
  accepts?(body: MessageBody): Promise<boolean> | undefined;

  /** Listens for earlier due times and for aborts until the returned function is called. Announcements may get lost; none is kept. */
  watchDue(listener: DueListener): () => void;

  /**
   * Resolves once the listeners of {@link watchDue} have heard what was announced before this call, or after a moment if that cannot be
   * known. Undefined: they hear it before any answer.
   */
  catchUp?(): Promise<void>;

  /** Opens the wake-up signal of one consumer. */
  openWakeSignal(): WakeSignal;
}

export interface ClaimedTransfer {
  readonly report: TransferReport;
  readonly claimed: ClaimReport;
}

export interface TransferRequest {
  /** Who tells those that watch the queue of this transfer ({@link DueListener.onTransfer}). Default: they are not told. */
  readonly announcer?: Announcer | undefined;
  /** The most messages to move (1–1000), and the most expired leases to take back. */
  readonly limit: number;
}

/** A scheduler, as others hear of it. */
export interface Announcer {
  /** Without spaces. */
  readonly scheduler: string;
  /** When it last moved or took back something, by the store's clock, ms (with fractions); null: never. */
  readonly movedAt: number | null;
}

export interface TransferReport {
  /** Messages moved from delayed to ready. */
  readonly moved: number;
  /** Messages taken back from expired leases, now ready again. */
  readonly recovered: number;
  /** Ids of the messages taken back from expired leases that had no attempt left, now dead. */
  readonly buried: readonly string[];
  /** Dead letters removed because there were more than `maxDeadLetters`, oldest first. */
  readonly dropped: number;
  /** Whether the limit was reached, so that another call is worth it. */
  readonly more: boolean;
  /** Messages that are ready now. */
  readonly ready: number;
  /** Milliseconds (with fractions) until the earliest delayed message falls due or the earliest lease ends; null: none. */
  readonly nextIn: number | null;
  /** The same as an instant; null: none. */
  readonly nextAt: number | null;
  /** When it was made, by the store's clock, ms (with fractions). */
  readonly at: number;
}

/** One message held by one claim. The token tells it from every earlier and later claim of the same message. */
export interface Claim {
  readonly id: string;
  readonly token: string;
  /** The group of the message. If it is missing, a store of messages with groups looks it up, at a price. */
  readonly group?: string | undefined;
}

export interface ClaimRequest {
  /** Fresh for every claim, unique across processes. */
  readonly token: string;
  /** The token of a claim whose answer got lost, and which this one succeeds. */
  readonly insteadOf?: string;
  /** The most messages to take (0–1000). 0 takes nothing, gives back what the other claim took, and tells the store's time. */
  readonly limit: number;
  /** The most bytes of bodies to take, but at least one message. Default: no bound. */
  readonly maxBytes?: number;
  /** How long they are held unless the lease is extended, ms. */
  readonly lease: number;
}

export interface ClaimReport {
  readonly messages: readonly ClaimedMessage[];
  /** Whether ready messages remain that can be claimed now; false while paused. */
  readonly more: boolean;
  /** The store's now, ms (with fractions). */
  readonly now: number;
  /**
   * Milliseconds (with fractions) after which the caller has to claim again: ready messages remain, the rate of the queue is
   * spent, and no other consumer waits for it.
   */
  readonly claimAgainIn?: number;
  /** Ids that were ready but had no message, because the store was damaged from outside. They are removed. */
  readonly orphans: readonly string[];
}

export interface ClaimedMessage {
  readonly id: string;
  readonly body: Buffer;
  readonly failedAttempts: number;
  readonly dueAt: number;
  readonly offeredAt: number;
}

/**
 * How the error of a dead letter begins if its body could not be read. `maxDeadLetters` drops none of these: with the right codec
 * they can still be handled.
 */
export const UNREAD_ERROR = '{"name":"Unreadable';

/** The error of a dead letter whose last attempt ended with its lease. */
export const LEASE_EXPIRED: MessageFailure = {
  name: 'LeaseExpired',
  message: 'The consumer did not settle the message within its lease: it crashed, stalled or lost its connection.',
};

/** What becomes of a claimed message. `body`: its body from now on; default: the one it has. */
export type Outcome =
  /**
   * Handled: the message is gone, its id is free. `lateBy`: no handler has seen it, because it has expired by then, so many ms late; for
   * those who are told of it.
   */
  | { readonly kind: 'ack'; readonly lateBy?: number; readonly next?: NextOccurrence }
  /** Failed: an attempt is spent, and it is delayed again. */
  | { readonly kind: 'retry'; readonly delay: number; readonly body?: MessageBody }
  /** Put off: delayed again, no attempt spent. */
  | { readonly kind: 'defer'; readonly delay: number; readonly body?: MessageBody }
  | { readonly kind: 'defer'; readonly at: number; readonly body?: MessageBody }
  /** Handled for now: offered anew in the same step, under the same id and with all attempts before it. */
  | { readonly kind: 'again'; readonly delay: number; readonly body?: MessageBody }
  | { readonly kind: 'again'; readonly at: number; readonly body?: MessageBody }
  /** Not handled: ready again before all others, its due time unchanged, no attempt spent. A consumer is woken. */
  | { readonly kind: 'release' }
  /** Failed for good: an attempt is spent, and it is a dead letter. `by` and `lateBy`: for those who are told of it; not stored. */
  | {
      readonly kind: 'dead';
      readonly error: string;
      readonly by?: DeathCause;
      readonly body?: MessageBody;
      readonly lateBy?: number;
      /** `letter`: the id of the dead letter that the occurrence leaves behind, which does not repeat. */
      readonly next?: NextOccurrence & { readonly letter: string; readonly failedAttempts: number };
    };

/** The next occurrence of a message that repeats: offered anew in the same step, under the same id and with all attempts before it. */
export interface NextOccurrence {
  /** When it falls due. */
  readonly at: number;
}

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

export interface DueListener {
  /** The earliest due time became earlier: something falls due in `dueIn` ms, at the instant `dueAt`. */
  onEarlierDue(announcement: { dueAt: number; dueIn: number }): void;
  /** A scheduler, which may be that of the listener, has made a transfer. */
  onTransfer?(transfer: AnnouncedTransfer): void;
  /** The message of a claim was aborted, so the claim has ended. */
  onAbort?(claim: Claim): void;
  /** Announcements are heard from now on, or again. Earlier ones may have been missed. */
  onListening(): void;
}

/** What a scheduler has told of its transfer. `movedAt` includes this one. */
export interface AnnouncedTransfer extends Announcer, Pick<TransferReport, 'at' | 'ready' | 'nextAt' | 'nextIn'> {}

/** What a consumer waits for while nothing is ready. One signal wakes one consumer in one process. */
export interface WakeSignal {
  /**
   * Waits for the signal, for {@link leave} or {@link close}, and for `timeout` ms at most.
   *
   * @returns whether it came; it promises nothing, because another consumer may be faster
   */
  wait(timeout: number): Promise<boolean>;
  /** Until the next wait, signals are for others. A consumer that will soon wait again need not say so. */
  leave(): void;
  /** Ends a wait and frees the connection. */
  close(): Promise<void>;
}
