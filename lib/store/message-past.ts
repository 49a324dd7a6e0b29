import type { DueTime } from '../message/duration.js';
import type { MessageState } from '../message/message.js';
import type { HandledEntry } from './consumer-store.js';

/** What a message has been through in a store, and what follows it. With its id, due time and body, it is all that a store knows. */
export interface MessagePast {
  readonly offeredAt: number;
  readonly failedAttempts: number;
  /** Null unless dead. */
  readonly death: MessageDeath | null;
  /** The due time, with a fraction of a millisecond that orders messages of one group with equal due times. Default: the due time. */
  readonly rank?: number | undefined;
  /** True if the message keeps its group's permit while it is delayed. */
  readonly isHeld: boolean;
  /** The message that takes its place once it is settled for good. */
  readonly follower?: Follower | undefined;
}

export interface MessageDeath {
  readonly at: number;
  /** The error as given in the outcome, or `LEASE_EXPIRED` as JSON. */
  readonly error: string;
}

export interface Follower {
  readonly due: DueTime;
  readonly body: Buffer;
}

export interface ScannedPage {
  readonly messages: readonly ScannedMessage[];
  /** For the next page; null after the last one. */
  readonly cursor: string | null;
}

export interface ScannedMessage extends MessagePast {
  readonly id: string;
  readonly state: MessageState;
  readonly dueAt: number;
  readonly body: Buffer;
}

/** An id that a queue keeps because its message was handled. */
export interface ScannedId {
  readonly id: string;
  /** When the message was handled, ms. */
  readonly handledAt: number;
  /** Until when the id is kept, ms. */
  readonly until: number;
}

/** What a queue remembers of a handled message. */
export interface ScannedEntry extends ScannedId {
  readonly entry: HandledEntry;
  /** Empty unless the record is kept. */
  readonly body: Buffer;
}

export interface ScannedPast<Part extends ScannedId> {
  readonly found: readonly Part[];
  /** For the next page; null after the last one. */
  readonly cursor: string | null;
}

/** `kept`: the store has one that is as new. `dropped`: its time is over, or the store has as many newer ones as it may have. */
export type RestoreOutcome = 'created' | 'kept' | 'dropped';
