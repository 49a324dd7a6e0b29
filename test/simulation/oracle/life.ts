import type { DueTime, Offer } from '../../../lib/store/producer-store.js';
import type { Delivery } from './delivery.js';
import type { GroupUse } from './group-use.js';
import type { QueueUse } from './queue-use.js';

/** How long what has ended, or has gone wrong, is remembered, ms: a handler that has lost its lease may still be at work. */
export const MEMORY = 120_000;

export type LifeEnd = 'handled' | 'expired' | 'dead' | 'cancelled' | 'aborted' | 'discarded' | 'cleared' | 'lost';

/** A message from its offer to its end: what the server knows of it, and what handlers have done. */
export class Life {
  readonly number: number;
  /** Undefined: it is in the queue. */
  end: LifeEnd | undefined = undefined;
  endedAt = Infinity;
  /** What processes have not let go of yet, among them claims that the server has ended, oldest first. */
  deliveries: Delivery[] = [];
  /** The time at which it was first due, by the server's clock; an expiry counts from then. */
  firstDue: number;
  due: number;
  /** Since when it could be claimed as far as others are concerned, ms of the world. */
  freeSince: number;
  failedAttempts = 0;
  /** True if a claim has taken it since it was offered, or came again: from then on, its expiry stays. */
  wasClaimed = false;
  /** How often a handler has started with a message of this id. */
  starts = 0;
  hasPermit = false;
  /** Which due time had come before the clock of the server was set back; undefined: none. */
  dueBeforeStep: number | undefined = undefined;
  /** Since when it has its place among those of its group, ms of the world; its due time comes on top. */
  inBacklogSince: number;
  /** True if it comes again by a rule when an occurrence has ended. */
  repeats = false;
  /** True if somebody has paused its rule. */
  isRulePaused = false;
  /** How many occurrences of its rule are over; undefined: not known. */
  occurrencesOver: number | undefined = undefined;
  /** Since when offers have replaced each other, ms of the world. */
  debouncedSince: number;
  /** The holder, according to the server. */
  holder: Delivery | undefined = undefined;
  /** Undefined: not known. */
  body: Offer['body'] | undefined = undefined;
  /** The due time of the message that follows it. */
  follower: DueTime | undefined = undefined;

  /**
   * @param group - undefined: it has none
   * @param times - when it is due by the server's clock, ms since 1970, and since when it can be claimed as far as others are concerned,
   *   ms of the world; its due time comes on top
   */
  constructor(
    readonly id: string,
    readonly queue: QueueUse,
    readonly group: GroupUse | undefined,
    { due, freeSince }: { readonly due: number; readonly freeSince: number },
  ) {
    this.due = due;
    this.freeSince = freeSince;
    this.number = numberOf(id);
    this.firstDue = due;
    this.debouncedSince = freeSince;
    this.inBacklogSince = freeSince;
  }

  /** True if it waits for its due time, and nobody has claimed it before. @param time - of the server's clock, ms since 1970 */
  isDelayed(time: number): boolean {
    return this.end === undefined && !this.wasClaimed && this.due > time && this.due !== this.dueBeforeStep;
  }

  /** Nobody holds it any more. */
  free(now: number): void {
    this.freeSince = now;
    this.group?.waiting.add(this);
  }

  /** It falls due anew, with all attempts before it. */
  renew(due: number, now: number): void {
    this.due = due;
    this.firstDue = due;
    this.free(now);
    this.inBacklogSince = now;
    this.debouncedSince = now;
    this.failedAttempts = 0;
    this.wasClaimed = false;
    this.body = undefined;
  }
}

/** The number of a message. */
export const numberOf = (id: string): number => Number(id.slice(1));
