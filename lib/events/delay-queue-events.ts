import type { MessageFailure } from '../message/message.js';

/** Background work that is retried until it works. */
export type BackgroundWork =
  'transfer' | 'claim' | 'settle' | 'extend' | 'repair' | 'subscribe' | 'watch-target' | 'register' | 'find-queues';

/** What events of a queue have. */
export interface OfQueue {
  readonly queue: string;
}

/** What events of a message have. */
export interface OfMessage extends OfQueue {
  readonly id: string;
}

/** What events of an attempt have. */
export interface OfAttempt extends OfMessage {
  /** Empty: the message has none. */
  readonly type: string;
  /** 1 for the first. */
  readonly attempt: number;
}

/**
 * What made a message a dead letter: its `handler` failed in its last attempt or asked for it (`reject`), the `lease` of its last
 * attempt expired, it is `unreadable` or its payload invalid, or `unknownTypeGrace` is over (`unknown-type`).
 */
export type DeathCause = 'handler' | 'reject' | 'lease' | 'unreadable' | 'unknown-type';

/** What events of several messages have. */
export interface Counted extends OfQueue {
  readonly count: number;
}

/** How long the failure has lasted, or had lasted, ms. */
export interface Lasting {
  readonly lasted: number;
}

/** What events of a lasting failure have. */
export interface Failing extends Lasting {
  readonly reason: string;
}

/** What events of background work have. */
export interface OfWork {
  readonly work: BackgroundWork;
  /** Undefined for work of the whole process. */
  readonly queue?: string | undefined;
}

/** What events of a handler have. */
export interface OfHandler {
  /** Class and method. */
  readonly handler: string;
  /** Empty: every type without a handler of its own. */
  readonly type: string;
}

/** What events of a connection have. */
export interface OfConnection {
  /** The purpose of the connection. */
  readonly connection: string;
}

/** All events by name. Each is emitted by the part that knows it, once it is certain. */
export interface DelayQueueEvents {
  /** The handler is done, and its message gone. */
  handled: OfAttempt;
  /** The handler asked for its message again. */
  again: OfAttempt;
  /** The handler deferred its message; no attempt is spent. */
  deferred: OfAttempt;
  /** A failed attempt is settled, and the message is delayed for the next one. */
  retried: OfAttempt;
  /** The message is a dead letter. `type`, `attempt`: undefined if its lease expired. */
  dead: OfMessage & Partial<OfAttempt> & { readonly by: DeathCause; readonly failure: MessageFailure };
  /** A handler failed. `retryIn`: ms until the next attempt; undefined if this was the last one. */
  failed: OfAttempt & { readonly attempts: number; readonly failure: MessageFailure; readonly retryIn?: number };
  /** A body cannot be decoded, so its message becomes a dead letter. */
  unreadable: OfMessage & { readonly failure: MessageFailure };
  /**
   * This process has no handler for the type, or cannot read the form of the body. `retryIn`: ms until a process looks at it
   * again; undefined if the message becomes a dead letter, because `unknownTypeGrace` is over. `isFirst`: whether it is the first
   * such message of this queue in this process.
   */
  unknown: OfMessage &
    ({ readonly type: string } | { readonly form: string }) & {
      readonly retryIn?: number;
      readonly isFirst: boolean;
    };
  /** A handler is done, but its outcome does not count, because it no longer holds the message. */
  'lease-lost': OfMessage;
  /** Messages fell due and are ready. */
  transferred: Counted;
  /** The leases of messages have expired; `recovered` of them are ready again, `buried` are dead. */
  'taken-back': OfQueue & { readonly recovered: number; readonly buried: number };
  /** Dead letters were removed, because there were more than `maxDeadLetters`. */
  dropped: Counted;
  /** Messages were given back, because handlers block the event loop and these could not be started in time. */
  'given-back': Counted;
  /** `count` claims in a row were not answered in time; what they took is given back. */
  'claims-unanswered': Counted;
  /** Ready ids without a message were removed. */
  'orphans-removed': Counted;
  /** Messages that were in no state are ready again. */
  repaired: OfQueue & { readonly ids: readonly string[] };
  /** An offer was ignored, because a handler of this process holds the message with that id. */
  'offered-while-held': OfMessage;
  /** Messages are offered to a queue that no process has ever handled. Emitted once for a queue and process. */
  unhandled: OfQueue;
  /** The application's code supplied something unusable; `problem` also says what the queue does instead. */
  misused: { readonly problem: string };

  /** Emitted when a failure begins, when its reason changes, and once a minute while it lasts. */
  'work-failing': OfWork & Failing;
  'work-restored': OfWork & Lasting;
  'connection-lost': OfConnection & Failing;
  'connection-restored': OfConnection & Lasting;

  'memory-store': object;
  /** Tests move the time of this process, and its messages are in memory. */
  'under-test': object;
  'options-overridden': { readonly options: readonly { readonly name: string; readonly because: string }[] };
  /** Redis could not be checked at the start. */
  unchecked: { readonly reason: string };
  /** The Redis user may not run `INFO`, so the version and policy of the server are unknown. */
  'server-unidentified': { readonly reason: string };
  /** After an outage, the connection leads to a server that cannot serve the queues. */
  'server-unfit': { readonly reason: string };
  'handler-started': OfQueue & OfHandler;
  /** This process only offers. */
  'handlers-not-started': { readonly handlers: readonly (OfQueue & OfHandler)[] };
  /** The shutdown timed out before `count` messages were settled. */
  unsettled: { readonly count: number };

  /** An observer or a listener threw. */
  'observer-failed': { readonly observer: string; readonly reason: string };
}

export type EventName = keyof DelayQueueEvents;

/** An event as observers get it. */
export type DelayQueueEvent<Name extends EventName = EventName> = {
  readonly [Each in Name]: { readonly name: Each } & DelayQueueEvents[Each];
}[Name];

const NAMES = {
  handled: true,
  again: true,
  deferred: true,
  retried: true,
  dead: true,
  failed: true,
  unreadable: true,
  unknown: true,
  'lease-lost': true,
  transferred: true,
  'taken-back': true,
  dropped: true,
  'given-back': true,
  'claims-unanswered': true,
  'orphans-removed': true,
  repaired: true,
  'offered-while-held': true,
  unhandled: true,
  misused: true,
  'work-failing': true,
  'work-restored': true,
  'connection-lost': true,
  'connection-restored': true,
  'memory-store': true,
  'under-test': true,
  'options-overridden': true,
  unchecked: true,
  'server-unidentified': true,
  'server-unfit': true,
  'handler-started': true,
  'handlers-not-started': true,
  unsettled: true,
  'observer-failed': true,
} satisfies Record<EventName, true>;

/** Whether there are events of this name. */
export function isEventName(name: unknown): name is EventName {
  return typeof name === 'string' && Object.hasOwn(NAMES, name);
}
