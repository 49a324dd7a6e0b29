import type { MessageFailure } from './message.js';

/**
 * The events of a process, by name. Each is emitted once its content is certain. `queue` and `id` name the queue and the message, `type` is
 * empty for a message without one, and `attempt` is 1 for the first attempt. A listener gets, for example, a `DelayQueueEvent<'dead'>`.
 */
export interface DelayQueueEvents {
  /** The handler is done, and its message is gone. */
  handled: {
    readonly queue: string;
    readonly id: string;
    readonly type: string;
    readonly attempt: number;
  };
  /** The handler ended with `again()`, and its message is delayed with all its attempts. */
  again: DelayQueueEvents['handled'];
  /** The handler ended with `DeferMessage`, and its message is delayed; no attempt is spent. */
  deferred: DelayQueueEvents['handled'];
  /** The handler failed, and its message is delayed for the next attempt. */
  retried: DelayQueueEvents['handled'];
  /** Somebody aborted the message while this process was handling it. It is gone, whatever the handler does. */
  aborted: DelayQueueEvents['handled'];
  /** The message could not be handled before it expired, and no handler has seen it. */
  expired: {
    readonly queue: string;
    readonly id: string;
    readonly type: string;
    /** The time since the message expired, ms. */
    readonly lateBy: number;
    /** What became of the message. Each dead letter also has an event `dead`. */
    readonly became: 'gone' | 'dead';
  };
  /** The handler threw an error. An event `retried` or `dead` follows. */
  failed: DelayQueueEvents['handled'] & {
    /** The number of attempts that the message has. */
    readonly attempts: number;
    /** The error that the handler threw. */
    readonly failure: MessageFailure;
    /** The time until the next attempt, ms; undefined if this was the last attempt. */
    readonly retryIn?: number;
    /** Only after the last attempt: the stack traces of the error and its causes, longer than the one in `failure`. */
    readonly trace?: string;
  };
  /** A message has become a dead letter. */
  dead: {
    readonly queue: string;
    readonly id: string;
    /** Undefined if the message's lease expired. */
    readonly type?: string;
    /** Undefined if the message's lease expired. */
    readonly attempt?: number;
    /**
     * The cause. `handler`: it failed in the last attempt. `reject`: it rejected the message. `lease`: the last attempt's lease expired.
     * `unreadable`: the body or payload cannot be read. `unknown-type`: `unknownTypeGrace` is over. `expired`: the message has expired.
     */
    readonly by: 'handler' | 'reject' | 'lease' | 'unreadable' | 'unknown-type' | 'expired';
    readonly failure: MessageFailure;
  };
  /** The oldest dead letters were removed, because the queue had more than `maxDeadLetters`. */
  'dead-letters-dropped': DelayQueueEvents['transferred'];
  /**
   * Kept ids (the queue's option `idsFor`) were dropped before their time, because there were more than `max`. Reported at most once a minute,
   * with the number since the last report.
   */
  'ids-dropped': DelayQueueEvents['transferred'];
  /** This process cannot handle the message, so the message waits for one that can. */
  'unknown-type': {
    readonly queue: string;
    readonly id: string;
    /** The type that has no handler here; undefined if the body has a form that this process cannot read. */
    readonly type?: string;
    /** The form, such as `encrypted:` and the name of a key. */
    readonly form?: string;
    /** The time until a process looks at the message again, ms. */
    readonly retryIn: number;
    /** True if this process meets the type or form for the first time. */
    readonly isFirst: boolean;
  };
  /** Messages fell due, and this process has transferred them to ready. */
  transferred: {
    readonly queue: string;
    /** The number of messages. */
    readonly count: number;
  };
  /** A handler is done, but its outcome does not count, because the handler no longer held the message. */
  'lease-lost': {
    readonly queue: string;
    readonly id: string;
  };
  /** The leases of messages have expired, because a process died or stalled. */
  'leases-expired': {
    readonly queue: string;
    /** The number of messages that are ready again. */
    readonly recovered: number;
    /** The number of dead letters. */
    readonly deadLettered: number;
  };
  /** Ready messages have vanished from Redis. */
  'messages-lost': DelayQueueEvents['transferred'];
  /** Orphaned messages are ready again, or delayed again until they fall due. */
  repaired: {
    readonly queue: string;
    /** The ids of the messages. */
    readonly ids: readonly string[];
    /** The ids, among `ids`, of messages that are delayed again because they are not due yet. The rest are ready. */
    readonly delayed: readonly string[];
  };

  /** This process handles no more messages of the queue until it is restarted. */
  halted: {
    readonly queue: string;
    /** The reason, as human-readable text. */
    readonly reason: string;
  };
  /** Messages are offered to a queue that no process has ever handled. Emitted once per queue and process. */
  unhandled: {
    readonly queue: string;
  };
  /**
   * The queue has messages with groups, but this process ignores the groups, because its option `groups` is not set. Emitted once per queue
   * and process: at startup, or a few minutes after the first such message.
   */
  'groups-ignored': {
    readonly queue: string;
  };
  /** This process has changed the number of partitions of the queue. */
  'partitions-changed': {
    readonly queue: string;
    readonly from: number;
    readonly to: number;
  };
  /** Partitions did not answer a call for the whole queue. Emitted when their set changes, and otherwise at most once a minute. */
  'partitions-missing': {
    readonly queue: string;
    /** The indexes, from 0, of the partitions that did not answer. */
    readonly missing: readonly number[];
    /** How many partitions the queue has. */
    readonly partitions: number;
  };

  /** Background work is failing. Emitted when the failure begins, when its reason changes, and once a minute while it lasts. */
  'work-failing': DelayQueueEvents['work-restored'] & {
    /** The reason, as human-readable text. */
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
    /** How long the work has been failing, ms. */
    readonly lasted: number;
  };
  /** A connection to Redis is down. Emitted like `work-failing`. */
  'connection-lost': DelayQueueEvents['connection-restored'] & {
    /** The reason, as human-readable text. */
    readonly reason: string;
  };
  /** A connection to Redis is back. */
  'connection-restored': {
    /** What the connection is used for. */
    readonly connection: string;
    /** How long the connection was down, ms. */
    readonly lasted: number;
  };
  /** After an outage, the connection leads to a server that cannot serve the queues. */
  'server-unsupported': {
    /** The reason, as human-readable text. */
    readonly reason: string;
  };

  /** A handler has been started. */
  'handler-started': {
    readonly queue: string;
    /** The class and method of the handler. */
    readonly handler: string;
    /** The type handled; empty for all types without their own handlers. */
    readonly type: string;
  };
  /** The process stops with messages still unsettled, because `shutdownTimeout` is over. */
  'shutdown-timed-out': {
    /** The number of unsettled messages, which are delivered again when their leases expire. */
    readonly count: number;
    /** The number of unsettled messages of each queue, or of each family that has a handler. */
    readonly queues: readonly {
      /** A queue's name, or a family's name, which ends with `*`. */
      readonly queue: string;
      readonly count: number;
    }[];
  };
}

export type HeldByQueue = DelayQueueEvents['shutdown-timed-out']['queues'][number];

export type EventName = keyof DelayQueueEvents;

/** Background work that is retried until it succeeds. */
export type BackgroundWork = DelayQueueEvents['work-restored']['work'];

export type DeathCause = DelayQueueEvents['dead']['by'];

/**
 * An event as listeners and observers get it.
 * @typeParam Name - the name of the event; default: any event
 */
export type DelayQueueEvent<Name extends keyof DelayQueueEvents = keyof DelayQueueEvents> = {
  readonly [Each in Name]: {
    readonly name: Each;
    /** The name of the module's instance; absent if it has none. */
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
  'ids-dropped': true,
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
  'server-unsupported': true,
  'handler-started': true,
  'shutdown-timed-out': true,
} satisfies Record<EventName, true>;

export const EVENT_NAMES = Object.keys(NAMES) as EventName[];

export function isEventName(name: unknown): name is EventName {
  return typeof name === 'string' && Object.hasOwn(NAMES, name);
}
