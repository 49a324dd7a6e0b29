import type { MessageFailure } from '../message/message.js';

/**
 * The events of a process, by name, each emitted once it is certain. `queue` and `id` are names of the queue and the message, `type` is
 * empty for a message without one, and `attempt` is 1 for the first. A listener gets, for example, a `DelayQueueEvent<'dead'>`.
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
  /** Somebody has aborted the message while this process handled it: it is gone, whatever the handler does. */
  aborted: DelayQueueEvents['handled'];
  /** The message could not be handled in time, and no handler has seen it. */
  expired: {
    readonly queue: string;
    readonly id: string;
    readonly type: string;
    /** Time since it expired, ms. */
    readonly lateBy: number;
    /** Its fate; each dead letter also has an event `dead`. */
    readonly became: 'gone' | 'dead';
  };
  /** The handler threw an error. An event `retried` or `dead` follows. */
  failed: DelayQueueEvents['handled'] & {
    /** The number of attempts that the message has. */
    readonly attempts: number;
    /** The error that the handler threw. */
    readonly failure: MessageFailure;
    /** Time until the next attempt, ms; undefined: this was the last one. */
    readonly retryIn?: number;
    /** After the last attempt: the stacks of the error and its causes, longer than that of `failure`. */
    readonly trace?: string;
  };
  /** The message is a dead letter. */
  dead: {
    readonly queue: string;
    readonly id: string;
    /** Undefined if its lease expired. */
    readonly type?: string;
    /** Undefined if its lease expired. */
    readonly attempt?: number;
    /**
     * The cause: its `handler` failed in its last attempt or asked for it (`reject`), the `lease` of its last attempt expired, its body or
     * payload is `unreadable`, `unknownTypeGrace` is over (`unknown-type`), or the message has `expired`.
     */
    readonly by: 'handler' | 'reject' | 'lease' | 'unreadable' | 'unknown-type' | 'expired';
    readonly failure: MessageFailure;
  };
  /** The oldest dead letters were removed, because there were more than `maxDeadLetters`. */
  'dead-letters-dropped': DelayQueueEvents['transferred'];
  /** This process cannot handle the message, so it waits for one that can. */
  'unknown-type': {
    readonly queue: string;
    readonly id: string;
    /** The type that has no handler here; undefined: the body has a form that only a later version reads. */
    readonly type?: string;
    readonly form?: string;
    /** Time until a process looks at it again, ms. */
    readonly retryIn: number;
    /** True if this process meets the type or form for the first time. */
    readonly isFirst: boolean;
  };
  /** This process has transferred messages that fell due: they are ready. */
  transferred: {
    readonly queue: string;
    /** The number of messages. */
    readonly count: number;
  };
  /** A handler is done, but its outcome does not count, because it no longer holds the message. */
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
    /** The part of `ids` that is not due yet and is delayed again; the rest is ready. */
    readonly delayed: readonly string[];
  };

  /** This process handles no further messages of the queue until it is restarted. */
  halted: {
    readonly queue: string;
    /** For people. */
    readonly reason: string;
  };
  /** Messages are offered to a queue that no process has ever handled. Emitted once for a queue and process. */
  unhandled: {
    readonly queue: string;
  };
  /**
   * The queue has messages with groups, which this process ignores because it has no option `groups`. Emitted once for a queue and process:
   * when it starts, or some minutes after the first such message.
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
  /** A count or list of the queue as a whole got no answer from these partitions. Emitted when they change, and otherwise once a minute. */
  'partitions-missing': {
    readonly queue: string;
    /** Their numbers, from 0. */
    readonly missing: readonly number[];
    /** The number of partitions of the queue. */
    readonly partitions: number;
  };

  /** Background work fails. Emitted when that begins, when its reason changes, and once a minute while it lasts. */
  'work-failing': DelayQueueEvents['work-restored'] & {
    /** For people. */
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
    /** For people. */
    readonly reason: string;
  };
  /** A connection to Redis is back. */
  'connection-restored': {
    /** The purpose of the connection. */
    readonly connection: string;
    /** How long it was down, ms. */
    readonly lasted: number;
  };
  /** After an outage, the connection leads to a server that cannot serve the queues. */
  'server-unsupported': {
    /** For people. */
    readonly reason: string;
  };

  /** A handler is started. */
  'handler-started': {
    readonly queue: string;
    /** Class and method. */
    readonly handler: string;
    /** Empty: every type without a handler of its own. */
    readonly type: string;
  };
  /** The process stops although messages are not settled: `shutdownTimeout` is over. */
  'shutdown-timed-out': {
    /** The number of messages, which are delivered again when their leases expire. */
    readonly count: number;
    /** The counts of each queue, or of each family that has a handler. */
    readonly queues: readonly {
      /** The name of a family ends with `*`. */
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
 * @typeParam Name - its name; default: any
 */
export type DelayQueueEvent<Name extends keyof DelayQueueEvents = keyof DelayQueueEvents> = {
  readonly [Each in Name]: {
    readonly name: Each;
    /** The name of the module's instance; absent for the one without a name. */
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
  'server-unsupported': true,
  'handler-started': true,
  'shutdown-timed-out': true,
} satisfies Record<EventName, true>;

export const EVENT_NAMES = Object.keys(NAMES) as EventName[];

export function isEventName(name: unknown): name is EventName {
  return typeof name === 'string' && Object.hasOwn(NAMES, name);
}
