import { channel, type Channel } from 'node:diagnostics_channel';
import {
  type DelayQueueEvent,
  type DelayQueueEvents,
  EVENT_NAMES,
  type EventName,
  type HeldByQueue,
} from '../message/delay-queue-events.js';

/** The payloads of events and notes, by name, for the parts of the library that listen. */
export type EventPayloads = DelayQueueEvents & Notes;

/** Channels that publish events to any subscriber in the process. */
const CHANNELS = Object.fromEntries(
  EVENT_NAMES.map((name) => [name, channel(`nestjs-delay-queue:${name}`)]),
) as Readonly<Record<EventName, Channel>>;

/** Passes events to channels, observers and listeners, and notes to the log. Both cost almost nothing while nobody listens. */
export class Events {
  readonly #listeners = new Map<keyof EventPayloads, ((payload: never) => void)[]>();
  readonly #watchers: ((event: DelayQueueEvent) => void)[] = [];
  readonly #notedOnce = new Set<keyof Notes>();
  readonly #origin: Pick<DelayQueueEvent, 'instance'>;

  /** @param instance - the instance's name; undefined if it has none */
  constructor(instance?: string) {
    this.#origin = instance === undefined ? {} : { instance };
  }

  /** @param listener - must not throw */
  on<Name extends keyof EventPayloads>(name: Name, listener: (payload: EventPayloads[Name]) => void): void {
    this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), listener]);
  }

  watch(watcher: (event: DelayQueueEvent) => void): void {
    this.#watchers.push(watcher);
  }

  /** True if anybody is listening. Check this before building an event that occurs for every message. */
  has(name: EventName): boolean {
    return this.#watchers.length > 0 || this.#listeners.has(name) || CHANNELS[name].hasSubscribers;
  }

  emit<Name extends EventName>(name: Name, event: DelayQueueEvents[Name]): void {
    this.#callListeners(name, event);
    const hasSubscribers = CHANNELS[name].hasSubscribers;
    if (this.#watchers.length === 0 && !hasSubscribers) return;
    const payload: unknown = this.complete(name, event);
    for (const watch of this.#watchers) watch(payload as DelayQueueEvent);
    if (hasSubscribers) CHANNELS[name].publish(payload);
  }

  /** Completes an event for listeners and observers: adds its name and that of the instance. */
  complete<Name extends EventName>(name: Name, event: DelayQueueEvents[Name]): DelayQueueEvent<Name> {
    return { name, ...this.#origin, ...event };
  }

  /** Passes a note to the log, but not to observers. */
  note<Name extends keyof Notes>(name: Name, note: Notes[Name]): void {
    this.#callListeners(name, note);
  }

  /** Like {@link note}, but ignores all but the first note of each name, because every connection may report the same. */
  noteOnce<Name extends keyof Notes>(name: Name, note: Notes[Name]): void {
    if (!this.#notedOnce.has(name)) this.note(name, note);
    this.#notedOnce.add(name);
  }

  hasNotedOnce(name: keyof Notes): boolean {
    return this.#notedOnce.has(name);
  }

  #callListeners(name: keyof EventPayloads, payload: object): void {
    const listeners = this.#listeners.get(name) as ((payload: object) => void)[] | undefined;
    if (listeners) for (const listener of listeners) listener(payload);
  }
}

/** Notes, by name. Only the log gets them. */
export interface Notes {
  /** Messages were released, because other handlers blocked the event loop for so long that theirs could not start in time. */
  released: { readonly queue: string; readonly count: number };
  /** `count` claims in a row were not answered in time; their messages are released. */
  'claims-unanswered': { readonly queue: string; readonly count: number };
  /** An offer was ignored, because a handler of this process holds the message with the same id. */
  'offered-while-held': { readonly queue: string; readonly id: string };
  /** A handler called `again()` at `place` in the code but did not return the result, so its message is gone. */
  'again-not-returned': { readonly place: string };
  /** The application's code supplied something unusable; `problem` says what, and what the queue does instead. */
  misused: { readonly problem: string };
  /** Handlers and listeners were made after startup, so they are never called. */
  'made-late': { readonly methods: readonly string[]; readonly by: string };
  /** An observer or a listener threw. */
  'observer-failed': { readonly observer: string; readonly reason: string };
  /** The queue has more partitions than this process is configured with. The process uses them all. */
  'partitions-adopted': { readonly queue: string; readonly configured: number; readonly partitions: number };
  /** Another process handles the groups of this queue or family differently. */
  'groups-differ': { readonly queue: string; readonly own: string; readonly other: string };
  /** A handler's repeating message was lost with Redis' data and has been offered again. */
  'repeat-lost': { readonly queue: string; readonly id: string };
  /** Redis is connected and checked for the first time in this process. */
  connected: ConnectedServer;
  /** Messages are kept in this process only. */
  'memory-store': object;
  /** A test moves this process's time, and messages are in memory. */
  'under-test': object;
  /** The module sets these connection options itself, so the given values have no effect. */
  'options-overridden': { readonly options: readonly { readonly name: string; readonly because: string }[] };
  /** Options are configured for a queue that this process does not use, though it uses one with nearly the same name. */
  'options-unmatched': { readonly queue: string; readonly nearest: string };
  /** The process is shutting down and waiting for running handlers. */
  'shutdown-waiting': { readonly queues: readonly HeldByQueue[]; readonly until: Date };
  /** Nothing listens for `signal`, so the process would end without waiting for its handlers. */
  'signals-ignored': { readonly signal: 'SIGTERM' };
  /** Redis could not be checked at startup. */
  unchecked: { readonly reason: string };
  /** Redis refuses this process's heartbeats, so `workers()` does not list it. */
  'heartbeat-refused': { readonly reason: string };
  /** Redis refuses to remember handled messages of a queue with a history: its memory is full, or the user lacks a permission. */
  'history-refused': { readonly queue: string; readonly reason: string };
  /** The Redis user may not run `INFO`, so the version and policy of the server are unknown. */
  'server-unidentified': { readonly reason: string };
  /** Redis ignores the connection's user or password. */
  'login-ignored': { readonly reason: string };
  /** Redis refuses to wait for several queues in one call, because a proxy hides a cluster. Each handled queue gets its own connection. */
  'wake-signals-separated': { readonly reason: string };
  /** Functions are not available in Redis, so this process sends scripts instead. */
  'functions-unavailable': { readonly reason: string };
  /** This process starts no handlers. It only offers. */
  'handlers-not-started': { readonly handlers: readonly DelayQueueEvents['handler-started'][] };
}

export interface ConnectedServer {
  /** The server and its version, such as `Redis 7.0.15`; undefined if the Redis user lacks permission to ask. */
  readonly server: string | undefined;
  /** Host and port, or the path of a socket; in a cluster, those of one primary. */
  readonly address: string;
  /** The number of primaries of a cluster; undefined without a cluster. */
  readonly primaries: number | undefined;
  /** The name by which the sentinels know the server; undefined without sentinels. */
  readonly master: string | undefined;
  /** The number of the database; undefined in a cluster. */
  readonly database: number | undefined;
  /** The prefix of all keys. */
  readonly prefix: string;
  /** True if the module was given no `connection`, or one that names no server. */
  readonly isDefault: boolean;
}
