import type { MessageFailure } from '../message/message.js';

/**
 * What a process tells about its queues, by the name of the event. Each is emitted by the part that knows it, once it is certain.
 * `DelayQueueEvent<'dead'>` is what a listener gets.
 */
export interface DelayQueueEvents {
  /** The handler is done, and its message is gone. */
  handled: {
    /** The name of the queue. */
    readonly queue: string;
    /** The id of the message. */
    readonly id: string;
    /** Empty: the message has none. */
    readonly type: string;
    /** 1 for the first. */
    readonly attempt: number;
  };
  /** The handler ended with `again()`, and its message is delayed with all its attempts. */
  again: DelayQueueEvents['handled'];
  /** The handler ended with `DeferMessage`, and its message is delayed; no attempt is spent. */
  deferred: DelayQueueEvents['handled'];
  /** The handler failed, and its message is delayed for the next attempt. */
  retried: DelayQueueEvents['handled'];
  /** Somebody has aborted the message while this process handled it: it is gone, whatever the handler does. */
  aborted: DelayQueueEvents['handled'];
  /** The message could not be handled in time, and no handler has seen it. */
  expired: {
    /** The name of the queue. */
    readonly queue: string;
    /** The id of the message. */
    readonly id: string;
    /** Empty: the message has none. */
    readonly type: string;
    /** How long ago it expired, ms. */
    readonly lateBy: number;
    /** What has become of it; `dead` tells of each dead letter, too. */
    readonly became: 'gone' | 'dead';
  };
  /** The handler threw an error. What becomes of the message is told by `retried` or `dead`. */
  failed: DelayQueueEvents['handled'] & {
    /** How many attempts the message has. */
    readonly attempts: number;
    /** What the handler threw. */
    readonly failure: MessageFailure;
    /** Until the next attempt, ms; undefined: this was the last one. */
    readonly retryIn?: number;
    /** After the last attempt: the stack of the error and those of its causes, longer than that of `failure`. */
    readonly trace?: string;
  };
  /** The message is a dead letter. */
  dead: {
    /** The name of the queue. */
    readonly queue: string;
    /** The id of the message. */
    readonly id: string;
    /** Undefined: its lease expired. */
    readonly type?: string;
    /** 1 for the first; undefined: its lease expired. */
    readonly attempt?: number;
    /**
     * What made it a dead letter: its `handler` failed in its last attempt or asked for it (`reject`), the `lease` of its last attempt
     * expired, its body or its payload is `unreadable`, `unknownTypeGrace` is over (`unknown-type`), or the message has `expired`.
     */
    readonly by: 'handler' | 'reject' | 'lease' | 'unreadable' | 'unknown-type' | 'expired';
    /** The error of the dead letter. */
    readonly failure: MessageFailure;
  };
  /** The oldest dead letters were removed, because there were more than `maxDeadLetters`. */
  'dead-letters-dropped': DelayQueueEvents['transferred'];
  /** This process cannot handle the message, so it waits for one that can. */
  'unknown-type': {
    /** The name of the queue. */
    readonly queue: string;
    /** The id of the message. */
    readonly id: string;
    /** The type that has no handler here; undefined: the body has a form that only a later version reads. */
    readonly type?: string;
    /** That form. */
    readonly form?: string;
    /** Until a process looks at it again, ms. */
    readonly retryIn: number;
    /** Whether this process meets the type, or the form, for the first time. */
    readonly isFirst: boolean;
  };
  /** This process has moved messages that fell due: they are ready. */
  transferred: {
    /** The name of the queue. */
    readonly queue: string;
    /** How many messages. */
    readonly count: number;
  };
  /** A handler is done, but its outcome does not count, because it no longer holds the message. */
  'lease-lost': {
    /** The name of the queue. */
    readonly queue: string;
    /** The id of the message. */
    readonly id: string;
  };
  /** The leases of messages have expired, because a process died or stalled. */
  'leases-expired': {
    /** The name of the queue. */
    readonly queue: string;
    /** How many messages are ready again. */
    readonly recovered: number;
    /** How many are dead letters. */
    readonly buried: number;
  };
  /** Messages that were ready have vanished from Redis. */
  'messages-lost': DelayQueueEvents['transferred'];
  /** Messages that were in no state are ready again, or delayed again until they fall due. */
  repaired: {
    /** The name of the queue. */
    readonly queue: string;
    /** The ids of the messages. */
    readonly ids: readonly string[];
    /** The ids of those among them that are not due yet, and are delayed again; the others are ready. */
    readonly delayed: readonly string[];
  };

  /** This process handles no further messages of the queue until it is restarted. */
  halted: {
    /** The name of the queue. */
    readonly queue: string;
    /** Why, for people. */
    readonly reason: string;
  };
  /** Messages are offered to a queue that no process has ever handled. Emitted once for a queue and process. */
  unhandled: {
    /** The name of the queue. */
    readonly queue: string;
  };
  /**
   * The queue has messages with groups, and this process handles it without the option `groups`, so it leaves them alone. Emitted once for a
   * queue and process: when it starts, or some minutes after the first such message.
   */
  'groups-ignored': {
    /** The name of the queue. */
    readonly queue: string;
  };
  /** This process has changed how many partitions the queue has. */
  'partitions-changed': {
    /** The name of the queue. */
    readonly queue: string;
    /** How many there were. */
    readonly from: number;
    /** How many there are now. */
    readonly to: number;
  };
  /**
   * Somebody has looked at the queue as a whole, and these partitions did not answer. Emitted when they change, and once a minute while
   * they stay the same.
   */
  'partitions-missing': {
    /** The name of the queue. */
    readonly queue: string;
    /** Their numbers, from 0. */
    readonly missing: readonly number[];
    /** How many partitions the queue has. */
    readonly partitions: number;
  };

  /** Background work fails. Emitted when that begins, when its reason changes, and once a minute while it lasts. */
  'work-failing': DelayQueueEvents['work-restored'] & {
    /** Why, for people. */
    readonly reason: string;
  };
  /** Background work succeeds again. */
  'work-restored': {
    /** The work, which is retried until it succeeds. */
    readonly work:
      | 'transfer'
      | 'claim'
      | 'settle'
      | 'extend'
      | 'repair'
      | 'subscribe'
      | 'watch-target'
      | 'register'
      | 'find-queues'
      | 'repeat';
    /** Undefined for work of the whole process. */
    readonly queue?: string | undefined;
    /** How long it has failed, ms. */
    readonly lasted: number;
  };
  /** A connection to Redis is down. Emitted like `work-failing`. */
  'connection-lost': DelayQueueEvents['connection-restored'] & {
    /** Why, for people. */
    readonly reason: string;
  };
  /** A connection to Redis is back. */
  'connection-restored': {
    /** What the connection is for. */
    readonly connection: string;
    /** How long it was down, ms. */
    readonly lasted: number;
  };
  /** After an outage, the connection leads to a server that cannot serve the queues. */
  'server-unfit': {
    /** Why, for people. */
    readonly reason: string;
  };

  /** A handler is started. */
  'handler-started': {
    /** The name of the queue. */
    readonly queue: string;
    /** Class and method. */
    readonly handler: string;
    /** Empty: every type without a handler of its own. */
    readonly type: string;
  };
  /** The process stops although messages are not settled: `shutdownTimeout` is over. */
  'shutdown-timed-out': {
    /** How many messages; they are delivered again when their leases expire. */
    readonly count: number;
    /** How many of each queue, or of each family that has a handler. */
    readonly queues: readonly {
      /** Its name; a family ends with `*`. */
      readonly queue: string;
      /** How many messages. */
      readonly count: number;
    }[];
  };
}

/** How many messages a process holds of a queue, or of a family of queues. */
export type HeldByQueue = DelayQueueEvents['shutdown-timed-out']['queues'][number];

/** The names of all events. */
export type EventName = keyof DelayQueueEvents;

/** Background work that is retried until it succeeds. */
export type BackgroundWork = DelayQueueEvents['work-restored']['work'];

/** What made a message a dead letter. */
export type DeathCause = DelayQueueEvents['dead']['by'];

/**
 * An event as listeners and observers get it.
 *
 * @typeParam Name - its name; default: of any name
 */
export type DelayQueueEvent<Name extends keyof DelayQueueEvents = keyof DelayQueueEvents> = {
  readonly [Each in Name]: {
    /** The name of the event. */
    readonly name: Each;
    /** The name of the instance of the module; absent: the one without a name. */
    readonly instance?: string;
  } & DelayQueueEvents[Each];
}[Name];

const NAMES = {
  handled: true,
  again: true,
  deferred: true,
  retried: true,
  expired: true,
  aborted: true,
  failed: true,
  dead: true,
  'dead-letters-dropped': true,
  'unknown-type': true,
  transferred: true,
  'lease-lost': true,
  'leases-expired': true,
  'messages-lost': true,
  repaired: true,
  halted: true,
  unhandled: true,
  'groups-ignored': true,
  'partitions-changed': true,
  'partitions-missing': true,
  'work-failing': true,
  'work-restored': true,
  'connection-lost': true,
  'connection-restored': true,
  'server-unfit': true,
  'handler-started': true,
  'shutdown-timed-out': true,
} satisfies Record<EventName, true>;

export const EVENT_NAMES = Object.keys(NAMES) as EventName[];

/** Whether there are events of this name. */
export function isEventName(name: unknown): name is EventName {
  return typeof name === 'string' && Object.hasOwn(NAMES, name);
}
