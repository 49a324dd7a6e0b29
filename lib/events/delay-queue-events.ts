import type { MessageFailure } from '../message/message.js';

/** Background work that is retried until it works. */
export type BackgroundWork =
  'transfer' | 'claim' | 'settle' | 'extend' | 'repair' | 'subscribe' | 'watch-target' | 'register' | 'find-queues';

/** What events of a queue have. */
export interface OfQueue {
  /** The name of the queue. */
  readonly queue: string;
}

/** What events of a message have. */
export interface OfMessage extends OfQueue {
  /** The id of the message. */
  readonly id: string;
}

/** What events of an attempt have. */
export interface OfAttempt extends OfMessage {
  /** Empty: the message has none. */
  readonly type: string;
  /** 1 for the first. */
  readonly attempt: number;
}

/** What has become of a message whose handler failed. */
export interface OfFailure extends OfAttempt {
  /** How many attempts the message has. */
  readonly attempts: number;
  /** What the handler threw. */
  readonly failure: MessageFailure;
  /** Until the next attempt, ms; undefined: this was the last one. */
  readonly retryIn?: number;
  /** After the last attempt: the stack of the error and those of its causes, longer than that of `failure`. */
  readonly trace?: string;
}

/**
 * What made a message a dead letter: its `handler` failed in its last attempt or asked for it (`reject`), the `lease` of its last
 * attempt expired, it is `unreadable` or its payload invalid, or `unknownTypeGrace` is over (`unknown-type`).
 */
export type DeathCause = 'handler' | 'reject' | 'lease' | 'unreadable' | 'unknown-type';

/** What the event of a dead letter has. */
export interface OfDeath extends OfMessage {
  /** Undefined: its lease expired. */
  readonly type?: string;
  /** 1 for the first; undefined: its lease expired. */
  readonly attempt?: number;
  /** What made it a dead letter. */
  readonly by: DeathCause;
  /** The error of the dead letter. */
  readonly failure: MessageFailure;
}

/** What the event of a body that cannot be read has. */
export interface OfUnreadable extends OfMessage {
  /** Why. */
  readonly failure: MessageFailure;
}

/** What the event of a message has that this process cannot handle, though another one may. */
export interface OfUnknown extends OfMessage {
  /** The type that has no handler here; undefined: the body has a form that only a later version reads. */
  readonly type?: string;
  /** That form. */
  readonly form?: string;
  /** Until a process looks at it again, ms; undefined: it becomes a dead letter, because `unknownTypeGrace` is over. */
  readonly retryIn?: number;
  /** Whether it is the first such message of this queue in this process. */
  readonly isFirst: boolean;
}

/** What the event of expired leases has. */
export interface OfTakenBack extends OfQueue {
  /** How many messages are ready again. */
  readonly recovered: number;
  /** How many are dead letters. */
  readonly buried: number;
}

/** What the event of found messages has. */
export interface OfRepair extends OfQueue {
  /** Their ids. */
  readonly ids: readonly string[];
  /** The ids of those among them that are not due yet, and are delayed again; the others are ready. */
  readonly delayed: readonly string[];
}

/** What events of several messages have. */
export interface Counted extends OfQueue {
  /** How many. */
  readonly count: number;
}

/** How long the failure has lasted, or had lasted. */
export interface Lasting {
  /** ms */
  readonly lasted: number;
}

/** Why something is not as it ought to be. */
export interface Explained {
  /** For people. */
  readonly reason: string;
}

/** What events of a lasting failure have. */
export interface Failing extends Lasting, Explained {}

/** What events of background work have. */
export interface OfWork {
  /** The work. */
  readonly work: BackgroundWork;
  /** Undefined for work of the whole process. */
  readonly queue?: string | undefined;
}

/** What events of a handler have. */
export interface OfHandler extends OfQueue {
  /** Class and method. */
  readonly handler: string;
  /** Empty: every type without a handler of its own. */
  readonly type: string;
}

/** What the event of a process without handlers has. */
export interface OfHandlers {
  /** Those that are not started. */
  readonly handlers: readonly OfHandler[];
}

/** What events of a connection have. */
export interface OfConnection {
  /** The purpose of the connection. */
  readonly connection: string;
}

/** What the event of the first connection has. */
export interface OfServer {
  /** What it calls itself, such as `Redis 7.0.15`; undefined: the user may not ask. */
  readonly server: string | undefined;
  /** Host and port, or the path of a socket; in a cluster, those of one primary. */
  readonly address: string;
  /** The number of primaries of a cluster; undefined: it is none. */
  readonly primaries: number | undefined;
  /** The name by which sentinels know the server; undefined: none were asked. */
  readonly master: string | undefined;
  /** Its number; undefined in a cluster. */
  readonly database: number | undefined;
  /** The first part of every key. */
  readonly prefix: string;
  /** Whether the module was given no `connection`. */
  readonly isDefault: boolean;
}

/** What the event of ignored options of the connection has. */
export interface OfOptions {
  /** Each with the reason. */
  readonly options: readonly OverriddenOption[];
}

/** What the event of options for no queue has. */
export interface OfUnmatched extends OfQueue {
  /** The queue that was most likely meant. */
  readonly nearest: string;
}

/** What the event of an unheard signal has. */
export interface OfSignal {
  /** Its name. */
  readonly signal: 'SIGTERM';
}

/** An option of the connection that the module sets itself. */
export interface OverriddenOption {
  /** As ioredis names it. */
  readonly name: string;
  /** Why. */
  readonly because: string;
}

/** What the event of a mistake in the application has. */
export interface OfMistake {
  /** What is wrong, and what the queue does instead. */
  readonly problem: string;
}

/** What the event of a call without effect has. */
export interface OfCall {
  /** The line of the code that made it, as in a stack. */
  readonly place: string;
}

/** What the event of a failed observer has. */
export interface OfObserver extends Explained {
  /** Its class, or class and method. */
  readonly observer: string;
}

/** What the event of another number of partitions has. */
export interface OfPartitions extends OfQueue {
  /** How many there were. */
  readonly from: number;
  /** How many there are now. */
  readonly to: number;
}

/** What the event of a process that is configured with fewer partitions has. */
export interface OfAdoption extends OfQueue {
  /** How many partitions this process is configured with. */
  readonly configured: number;
  /** How many the queue has. */
  readonly partitions: number;
}

/** What the event of partitions that do not answer has. */
export interface OfMissing extends OfQueue {
  /** Their numbers, from 0. */
  readonly missing: readonly number[];
  /** How many partitions the queue has. */
  readonly partitions: number;
}

/** What the event of a shutdown that timed out has. */
export interface Unsettled {
  /** How many messages were not settled. */
  readonly count: number;
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
  /** The message is a dead letter. */
  dead: OfDeath;
  /** A handler failed. */
  failed: OfFailure;
  /** A body cannot be decoded, or a payload is invalid, so the message becomes a dead letter. */
  unreadable: OfUnreadable;
  /** This process handles no further messages of the queue until it is restarted. */
  halted: OfQueue & Explained;
  /** This process has no handler for the type, or cannot read the form of the body. */
  unknown: OfUnknown;
  /** A handler is done, but its outcome does not count, because it no longer holds the message. */
  'lease-lost': OfMessage;
  /** Messages fell due and are ready. */
  transferred: Counted;
  /** The leases of messages have expired. */
  'taken-back': OfTakenBack;
  /** Dead letters were removed, because there were more than `maxDeadLetters`. */
  dropped: Counted;
  /** Messages were given back, because handlers block the event loop and these could not be started in time. */
  'given-back': Counted;
  /** `count` claims in a row were not answered in time; what they took is given back. */
  'claims-unanswered': Counted;
  /** Ready ids without a message were removed. */
  'orphans-removed': Counted;
  /** Messages that were in no state are ready again, or delayed again until they fall due. */
  repaired: OfRepair;
  /** An offer was ignored, because a handler of this process holds the message with that id. */
  'offered-while-held': OfMessage;
  /** Messages are offered to a queue that no process has ever handled. Emitted once for a queue and process. */
  unhandled: OfQueue;
  /** A handler called `again()` and did not return its value, so its message is gone. Emitted once for each place in the code. */
  'again-in-vain': OfCall;
  /** The application's code supplied something unusable. */
  misused: OfMistake;
  /** An observer or a listener threw. */
  'observer-failed': OfObserver;
  /** This process has changed how many partitions the queue has. */
  'partitions-changed': OfPartitions;
  /** The queue has more partitions than this process is configured with, which uses them. Emitted once for a queue and process. */
  'partitions-adopted': OfAdoption;
  /**
   * Somebody has looked at the queue as a whole, and these partitions did not answer. Emitted when they change, and once a minute while
   * they stay the same.
   */
  'partitions-missing': OfMissing;

  /** Background work fails. Emitted when that begins, when its reason changes, and once a minute while it lasts. */
  'work-failing': OfWork & Failing;
  /** Background work succeeds again. */
  'work-restored': OfWork & Lasting;
  /** A connection to Redis is down. Emitted like `work-failing`. */
  'connection-lost': OfConnection & Failing;
  /** A connection to Redis is back. */
  'connection-restored': OfConnection & Lasting;

  /** Redis is connected and checked, for the first time in this process. */
  connected: OfServer;
  /** Messages live in this process only. */
  'memory-store': object;
  /** Tests move the time of this process, and its messages are in memory. */
  'under-test': object;
  /** The module sets these options of the connection itself. */
  'options-overridden': OfOptions;
  /** Options are configured for a queue that this process does not use, though it uses one with nearly the same name. */
  'options-unmatched': OfUnmatched;
  /** Nobody listens for a signal that ends the process, so its handlers are not waited for. */
  'signals-ignored': OfSignal;
  /** Redis could not be checked at the start. */
  unchecked: Explained;
  /** The Redis user may not run `INFO`, so the version and policy of the server are unknown. */
  'server-unidentified': Explained;
  /** Redis does not use the user or password of the connection, and goes on without it. Emitted once for a process. */
  'login-ignored': Explained;
  /** After an outage, the connection leads to a server that cannot serve the queues. */
  'server-unfit': Explained;
  /**
   * Redis refuses to wait for several queues in one call, because a proxy hides that it is a cluster. From now on, each handled queue
   * has a connection of its own. Emitted once for a process.
   */
  'doorbells-separated': Explained;
  /** A handler is started. */
  'handler-started': OfHandler;
  /** This process only offers. */
  'handlers-not-started': OfHandlers;
  /** The shutdown timed out before all messages were settled. */
  unsettled: Unsettled;
}

/** The names of all events. */
export type EventName = keyof DelayQueueEvents;

/** What tells an event from others. */
export interface Named<Name extends EventName> {
  /** The name of the event. */
  readonly name: Name;
}

/**
 * An event as observers get it.
 *
 * @typeParam Name - its name; default: of any name
 */
export type DelayQueueEvent<Name extends EventName = EventName> = {
  readonly [Each in Name]: Named<Each> & DelayQueueEvents[Each];
}[Name];

const NAMES = {
  handled: true,
  again: true,
  deferred: true,
  retried: true,
  dead: true,
  failed: true,
  unreadable: true,
  halted: true,
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
  'again-in-vain': true,
  misused: true,
  'work-failing': true,
  'work-restored': true,
  'connection-lost': true,
  'connection-restored': true,
  connected: true,
  'memory-store': true,
  'under-test': true,
  'options-overridden': true,
  'options-unmatched': true,
  'signals-ignored': true,
  unchecked: true,
  'server-unidentified': true,
  'login-ignored': true,
  'server-unfit': true,
  'doorbells-separated': true,
  'handler-started': true,
  'handlers-not-started': true,
  unsettled: true,
  'observer-failed': true,
  'partitions-changed': true,
  'partitions-adopted': true,
  'partitions-missing': true,
} satisfies Record<EventName, true>;

/** Whether there are events of this name. */
export function isEventName(name: unknown): name is EventName {
  return typeof name === 'string' && Object.hasOwn(NAMES, name);
}
